#include "server/rules/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <array>
#include <exception>
#include <sstream>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/limiter/request.h"
#include "server/rules/quote.h"

namespace tollgate {
namespace {

TextPosition PositionOf(const YAML::Mark& mark) {
  return {mark.line + 1, mark.column + 1};  // a null mark is -1:-1
}

bool IsKnownTag(const std::string& tag) {
  static constexpr std::array<absl::string_view, 6> kKnown = {
      "",  // none
      "?",
      "!",
      "tag:yaml.org,2002:str",
      "tag:yaml.org,2002:seq",
      "tag:yaml.org,2002:map"};
  return absl::c_linear_search(kKnown, tag);
}

// Builds the tree from the parser's events. YAML::Node would serve, but it
// keeps no mark for a key, copies an alias as often as it is used, and follows
// an alias inside its own anchor for ever.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(YamlTree& tree) : tree_(tree) {}

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    TextPosition at = PositionOf(mark);
    if (!open_.empty()) {
      const YamlNode& parent = *open_.back();
      const bool is_value =
          parent.kind == YamlNode::Kind::kMap && parent.items.size() % 2 == 1;
      at = is_value ? parent.items.back()->at : parent.at;
    }
    Leaf(at, anchor, YamlNode::Kind::kNull, "");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (tree_.error.has_value()) return;
    const TextPosition at = PositionOf(mark);
    if (anchor >= anchors_.size() || anchors_[anchor] == nullptr ||
        anchors_[anchor]->weight == 0) {
      return Fail(at, "got an alias inside its own anchor, want a value");
    }
    Attach(*anchors_[anchor]);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag,
                YAML::anchor_t anchor, const std::string& value) override {
    const TextPosition at = PositionOf(mark);
    last_text_ = at;
    CheckTag(at, tag);
    Leaf(at, anchor, YamlNode::Kind::kText, value, tag.empty() || tag == "?");
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    Open(PositionOf(mark), tag, anchor, YamlNode::Kind::kList);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag,
                  YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    Open(PositionOf(mark), tag, anchor, YamlNode::Kind::kMap);
  }
  void OnMapEnd() override { Close(); }

  // Where the last scalar begins; 0:0 if there is none.
  [[nodiscard]] TextPosition last_text() const { return last_text_; }

 private:
  // The first mistake counts; the events after it are let pass.
  void Fail(TextPosition at, std::string message) {
    if (!tree_.error.has_value()) tree_.error = {at, std::move(message)};
  }
  void CheckTag(TextPosition at, const std::string& tag) {
    if (!IsKnownTag(tag)) {
      Fail(at, absl::StrCat("got the tag ", Quote(tag), ", want no tag"));
    }
  }
  YamlNode* New(TextPosition at, YAML::anchor_t anchor, YamlNode::Kind kind) {
    if (tree_.nodes.size() >= kMaxYamlNodes) {
      TooHeavy(at);
      return nullptr;
    }
    YamlNode& node = tree_.nodes.emplace_back();
    node.kind = kind;
    node.at = at;
    if (anchor != YAML::NullAnchor) {
      if (anchors_.size() <= anchor) anchors_.resize(anchor + 1, nullptr);
      anchors_[anchor] = &node;
    }
    return &node;
  }
  void Leaf(TextPosition at, YAML::anchor_t anchor, YamlNode::Kind kind,
            const std::string& text, bool plain = false) {
    if (tree_.error.has_value()) return;
    YamlNode* node = New(at, anchor, kind);
    if (node == nullptr) return;
    node->text = text;
    node->plain = plain;
    node->weight = 1;
    Attach(*node);
  }
  void Open(TextPosition at, const std::string& tag, YAML::anchor_t anchor,
            YamlNode::Kind kind) {
    CheckTag(at, tag);
    if (tree_.error.has_value()) return;
    YamlNode* node = New(at, anchor, kind);
    if (node != nullptr) open_.push_back(node);
  }
  void Close() {
    if (tree_.error.has_value()) return;
    YamlNode& node = *open_.back();
    open_.pop_back();
    node.weight = 1;
    for (const YamlNode* item : node.items) {
      // No sum overflows: the check comes before the next addition.
      node.weight += item->weight;
      if (node.weight > kMaxYamlNodes) return TooHeavy(node.at);
    }
    Attach(node);
  }
  void Attach(const YamlNode& node) {
    if (open_.empty()) {
      tree_.root = &node;
    } else {
      open_.back()->items.push_back(&node);
    }
  }
  void TooHeavy(TextPosition at) {
    Fail(at, absl::StrCat("got more than ", kMaxYamlNodes,
                          " YAML nodes with aliases counted in full, want at "
                          "most ",
                          kMaxYamlNodes));
  }

  YamlTree& tree_;
  std::vector<YamlNode*> open_;
  std::vector<const YamlNode*> anchors_;  // by the parser's number
  TextPosition last_text_;
};

size_t SequenceBytes(unsigned char lead) {
  if (lead >= 0xF0) return 4;
  if (lead >= 0xE0) return 3;
  return 2;
}

std::optional<YamlError> CheckBytes(absl::string_view text) {
  TextPosition at{1, 1};
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    size_t bytes = 1;
    if (byte >= 0x80) {
      bytes = SequenceBytes(byte);
      if (!IsValidUtf8(text.substr(i, bytes))) {
        return YamlError{at, absl::StrFormat("got byte 0x%02X that is not of "
                                             "UTF-8, want UTF-8 text",
                                             byte)};
      }
    } else if ((byte < 0x20 || byte == 0x7F) && byte != '\t' && byte != '\n' &&
               byte != '\r') {
      return YamlError{
          at, absl::StrFormat("got control character 0x%02X, want text", byte)};
    }
    i += bytes;
    at.column += static_cast<int>(bytes);
    if (byte == '\n') at = {at.line + 1, 1};
  }
  return std::nullopt;
}

size_t OffsetOf(absl::string_view text, TextPosition at) {
  size_t offset = 0;
  for (int line = 1; line < at.line; ++line) {
    const size_t end = text.find('\n', offset);
    if (end == absl::string_view::npos) return text.size();
    offset = end + 1;
  }
  return offset + static_cast<size_t>(at.column - 1);
}

// yaml-cpp 0.7 lets the end of the text close a quote, so that half a file can
// end up as one value. Only the last scalar can be such.
std::optional<YamlError> CheckLastQuote(absl::string_view text,
                                        TextPosition last) {
  if (last.line < 1) return std::nullopt;
  size_t i = OffsetOf(text, last);
  // The mark of an anchored or tagged value is that of the anchor or the tag.
  while (i < text.size() && (text[i] == '&' || text[i] == '!')) {
    i = text.find_first_of(" \t\r\n", i);
    i = text.find_first_not_of(" \t\r\n", i);
    if (i == absl::string_view::npos) return std::nullopt;
  }
  if (i >= text.size()) return std::nullopt;
  const char quote = text[i];
  if (quote != '"' && quote != '\'') return std::nullopt;
  for (++i; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      const bool is_pair =
          quote == '\'' && i + 1 < text.size() && text[i + 1] == quote;
      if (!is_pair) return std::nullopt;
      ++i;
    }
  }
  return YamlError{last, "got a quote that is never closed, want its end"};
}

std::string Broken(absl::string_view problem) {
  // What yaml-cpp says when its guard against deep recursion stops it.
  if (problem == YAML::ErrorMsg::BAD_FILE) problem = "nested too deeply";
  return absl::StrCat("got broken YAML (", problem, "), want a YAML document");
}

// Hears where a second document begins, and nothing else.
class SecondDocument final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { at_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

  [[nodiscard]] TextPosition at() const { return PositionOf(at_); }

 private:
  YAML::Mark at_ = YAML::Mark::null_mark();
};

// Calls `parse`; what it throws becomes an error.
template <typename Parse>
void Guard(const Parse& parse, std::optional<YamlError>& error) {
  try {
    parse();
  } catch (const YAML::Exception& e) {
    if (!error.has_value()) error = {PositionOf(e.mark), Broken(e.msg)};
  } catch (const std::exception& e) {
    error = {{}, Broken(e.what())};
  }
}

// Whether a line after `from`, up to that of `to`, ends a document.
bool HasMarker(absl::string_view text, TextPosition from, TextPosition to) {
  for (int line = from.line + 1; line <= to.line; ++line) {
    const absl::string_view rest = text.substr(OffsetOf(text, {line, 1}));
    if (absl::StartsWith(rest, "---") || absl::StartsWith(rest, "...")) {
      return true;
    }
  }
  return false;
}

void Parse(absl::string_view text, YamlTree& tree) {
  TreeBuilder builder(tree);
  std::istringstream in{std::string(text)};
  std::optional<YAML::Parser> parser;
  Guard(
      [&] {
        parser.emplace(in);
        parser->HandleNextDocument(builder);
      },
      tree.error);
  if (tree.error.has_value()) return;
  std::optional<YamlError> rest;
  SecondDocument second;
  Guard(
      [&] {
        if (parser->HandleNextDocument(second)) {
          rest = {second.at(),
                  "got a second document, want one document in a file"};
        }
      },
      rest);
  if (!rest.has_value()) {
    tree.error = CheckLastQuote(text, builder.last_text());
  } else if (HasMarker(text, builder.last_text(), rest->at)) {
    tree.rest = std::move(rest);
  } else {
    tree.error = std::move(rest);
  }
}

}  // namespace

YamlTree ParseYaml(absl::string_view text) {
  YamlTree tree;
  // Columns then mean the same with and without a byte order mark.
  if (absl::StartsWith(text, "\xEF\xBB\xBF")) text.remove_prefix(3);
  tree.error = CheckBytes(text);
  if (!tree.error.has_value()) Parse(text, tree);
  return tree;
}

}  // namespace tollgate
