#ifndef TOLLGATE_SERVER_RULES_YAML_TREE_H_
#define TOLLGATE_SERVER_RULES_YAML_TREE_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tollgate {

// A place in a text, both from 1; columns count bytes. 0:0 is the whole file.
struct TextPosition {
  int line = 0;
  int column = 0;
};

// One node of a YAML document. A scalar keeps its source text, whatever type
// it looks like; a plain `null`, `~` or nothing at all is kNull. A null stands
// where its key or its list stands, because the parser only knows where the
// text goes on. An alias is the anchored node itself.
struct YamlNode {
  enum class Kind { kNull, kText, kList, kMap };
  Kind kind = Kind::kNull;
  TextPosition at;
  std::string text;                    // kText
  bool plain = false;                  // kText without quotes or a tag
  std::vector<const YamlNode*> items;  // kList; kMap: key, value, key, value
  // Nodes that a reader of this one visits, itself included and each alias
  // counted in full; 0 while the node is still being parsed.
  size_t weight = 0;
};

struct YamlError {
  TextPosition at;
  std::string message;  // what was found and what is wanted
};

// What ParseYaml made of a text. Owns the nodes. Immutable once made.
struct YamlTree {
  std::deque<YamlNode> nodes;
  const YamlNode* root = nullptr;  // null if the text holds no node
  std::optional<YamlError> error;  // then the nodes are not to be used
  // Another document after the first, good or broken, which a reader may
  // ignore. The nodes are of the first.
  std::optional<YamlError> rest;
};

// A tree is at most this heavy, so that aliases of aliases of aliases cannot
// cost more time than a large honest file.
inline constexpr size_t kMaxYamlNodes = 1'000'000;

// Parses the first YAML document of `text`. Refuses what would be misread in
// silence: bytes that are not UTF-8, control characters (yaml-cpp takes U+0004
// for the end of the file), tags other than the core ones, an alias inside its
// own anchor, a last quote that is never closed. Does not throw. Thread-safe.
[[nodiscard]] YamlTree ParseYaml(absl::string_view text);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_YAML_TREE_H_
