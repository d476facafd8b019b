#include "server/rules/convert.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "server/limiter/pattern.h"
#include "server/limiter/request.h"
#include "server/limiter/rule_text.h"

namespace tollgate {
namespace {

using Path = std::vector<NodeStep>;

// Double-quoted, as YAML reads it back.
std::string Quoted(absl::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      absl::StrAppend(&out, "\\", std::string(1, c));
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      absl::StrAppendFormat(&out, "\\x%02x", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// Text of a comment: it must stay on its line.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return text;
}

bool SameStep(const NodeStep& a, const NodeStep& b) {
  return a.key == b.key && a.value == b.value;
}

// 0 exact, 1 wildcard, 2 key only: who comes first.
int RankOf(const NodeStep& step) {
  if (step.is_wildcard()) return 1;
  return step.value.empty() ? 2 : 0;
}

// Whether some entry could match both. Two wildcards could unless their ends
// say otherwise.
bool Overlap(const NodeStep& a, const NodeStep& b) {
  const bool wild_key =
      absl::StrContains(a.key, "*") || absl::StrContains(b.key, "*");
  if (!wild_key && a.key != b.key) return false;
  if (a.value.empty() || b.value.empty()) return true;
  const Pattern pa = Pattern::Parse(a.value);
  const Pattern pb = Pattern::Parse(b.value);
  if (!pa.is_exact() && !pb.is_exact()) {
    return (absl::StartsWith(pa.prefix(), pb.prefix()) ||
            absl::StartsWith(pb.prefix(), pa.prefix())) &&
           (absl::EndsWith(pa.suffix(), pb.suffix()) ||
            absl::EndsWith(pb.suffix(), pa.suffix()));
  }
  return pa.is_exact() ? pb.Matches(a.value) : pa.Matches(b.value);
}

std::multiset<std::string> KeysOf(const Path& path) {
  std::multiset<std::string> keys;
  for (const NodeStep& step : path) keys.insert(step.key);
  return keys;
}

class Converter {
 public:
  explicit Converter(absl::Span<const Rule> rules) : rules_(rules) {}

  std::string Convert() {
    const std::string domain = rules_.empty() ? "" : rules_[0].domain;
    out_ = absl::StrCat(
        "# Converted from the Envoy format. Requests of several descriptors "
        "charge a\n# bucket once here, there once for each descriptor; a "
        "descriptor may have more\n# entries than a rule asks for here, there "
        "exactly those.\ndomain: ",
        Quoted(domain), "\n");
    std::string body;
    for (size_t i = 0; i < rules_.size(); ++i) {
      if (!rules_[i].node->path.empty()) AddRule(i, body);
    }
    absl::StrAppend(&out_, has_rules_ ? "rules:\n" : "rules: []\n", body);
    return std::move(out_);
  }

 private:
  void AddRule(size_t i, std::string& body) {
    const Rule& rule = rules_[i];
    const NodeRule& node = *rule.node;
    if (node.limits.empty()) {
      absl::StrAppend(&body, "  # ", OneLine(rule.name), ": no limit\n");
      return;
    }
    for (const std::string& difference : Differences(i)) {
      absl::StrAppend(&body, "  # differs: ", OneLine(rule.name), ": ",
                      OneLine(difference), "\n");
    }
    if (rule.limits.empty() && node.limits[0].unlimited) {
      absl::StrAppend(&body, "  # ", OneLine(rule.name), ": unlimited\n");
    }
    if (rule.limits.empty() || !CanSay(node.path)) return;
    has_rules_ = true;
    AppendNative(rule, body);
  }

  // Whether native rules can ask for such entries at all.
  static bool CanSay(const Path& path) {
    const auto keys = KeysOf(path);
    return path.size() <= kMaxEntries &&
           std::all_of(path.begin(), path.end(), [&](const NodeStep& step) {
             return !absl::StrContains(step.key, "*") &&
                    !absl::StrContains(step.key, "|") &&
                    keys.count(step.key) == 1;
           });
  }

  [[nodiscard]] std::vector<std::string> Differences(size_t i) const {
    const NodeRule& node = *rules_[i].node;
    std::vector<std::string> found;
    if (!CanSay(node.path)) {
      found.emplace_back(
          "left out: native rules have no wildcard or | in a key, see a key "
          "once in a descriptor, and know no descriptor of over 32 entries");
    }
    for (const NodeLimit& limit : node.limits) {
      if (!limit.unlimited && limit.requests_per_unit == 0) {
        found.emplace_back(
            "left out: 0 per unit refuses everything, which no native rule "
            "does");
      }
      if (!limit.replaces.empty()) {
        found.push_back(absl::StrCat("replaces ",
                                     absl::StrJoin(limit.replaces, ", "),
                                     ": here both apply"));
      }
    }
    if (node.quota_mode) {
      found.emplace_back(
          "quota_mode: here it refuses as every rule does, alone");
    }
    AddOverlaps(i, found);
    return found;
  }

  // What of the tree's order this rule does not know.
  void AddOverlaps(size_t i, std::vector<std::string>& found) const {
    const Path& path = rules_[i].node->path;
    const auto keys = KeysOf(path);
    std::set<std::string> before;
    std::set<std::string> others;
    for (size_t j = 0; j < rules_.size(); ++j) {
      const Path& theirs = rules_[j].node->path;
      if (theirs.empty() || j == i) continue;
      if (ComesBefore(theirs, path, j < i)) before.insert(rules_[j].name);
      const auto other_keys = KeysOf(theirs);
      const bool same_sequence = std::equal(
          theirs.begin(), theirs.end(), path.begin(), path.end(),
          [](const auto& a, const auto& b) { return a.key == b.key; });
      if (!same_sequence && std::includes(other_keys.begin(), other_keys.end(),
                                          keys.begin(), keys.end())) {
        others.insert(rules_[j].name);
      }
    }
    if (!before.empty()) {
      found.push_back(absl::StrCat("there ", Some(before),
                                   " comes before it; here both apply"));
    }
    if (!others.empty()) {
      found.push_back(absl::StrCat("here it also applies to descriptors of ",
                                   Some(others)));
    }
  }

  // Whether at the level where the paths part, a descriptor that could take
  // the way of `path` takes that of `theirs`, which is earlier in the file or
  // later.
  [[nodiscard]] static bool ComesBefore(const Path& theirs, const Path& path,
                                        bool earlier) {
    for (size_t i = 0; i < path.size() && i < theirs.size(); ++i) {
      if (SameStep(theirs[i], path[i])) continue;
      if (!Overlap(theirs[i], path[i])) return false;
      const int a = RankOf(theirs[i]);
      const int b = RankOf(path[i]);
      return a < b || (a == b && earlier);
    }
    return false;
  }

  static std::string Some(const std::set<std::string>& names) {
    constexpr size_t kShown = 3;
    std::vector<std::string> shown;
    for (const std::string& name : names) {
      if (shown.size() < kShown) shown.push_back(name);
    }
    std::string text = absl::StrJoin(shown, ", ");
    if (names.size() > kShown) {
      absl::StrAppend(&text, " and ", names.size() - kShown, " more");
    }
    return text;
  }

  static void AppendNative(const Rule& rule, std::string& body) {
    std::vector<std::string> match;
    std::vector<std::string> key;
    for (const NodeStep& step : rule.node->path) {
      if (!step.value.empty()) {
        match.push_back(
            absl::StrCat(Quoted(step.key), ": ", Quoted(step.value)));
      }
      if (step.value.empty() || (step.is_wildcard() && !step.share)) {
        key.push_back(Quoted(step.key));
      }
    }
    std::vector<std::string> limits;
    for (const Limit& limit : rule.limits) {
      limits.push_back(LimitText(rule, limit));
    }
    absl::StrAppend(&body, "  - name: ", Quoted(rule.name), "\n");
    if (!match.empty()) {
      absl::StrAppend(&body, "    match: {", absl::StrJoin(match, ", "), "}\n");
    }
    absl::StrAppend(&body, "    key: [", absl::StrJoin(key, ", "), "]\n",
                    "    limit: [", absl::StrJoin(limits, ", "), "]\n");
    if (rule.algorithm->name() != "token_bucket") {
      absl::StrAppend(&body, "    algorithm: ", rule.algorithm->name(), "\n");
    }
    if (rule.mode == Mode::kShadow) {
      absl::StrAppend(&body, "    mode: shadow\n");
    }
  }

  const absl::Span<const Rule> rules_;
  std::string out_;
  bool has_rules_ = false;
};

}  // namespace

std::string ToNativeYaml(absl::Span<const Rule> rules) {
  return Converter(rules).Convert();
}

}  // namespace tollgate
