#ifndef TOLLGATE_SERVER_LIMITER_NODE_RULE_H_
#define TOLLGATE_SERVER_LIMITER_NODE_RULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/limiter/limit_unit.h"

namespace tollgate {

// The rule of every domain under which limits that requests bring along are
// charged and counted, whatever their number.
inline constexpr absl::string_view kOverrideRule = "_override";

// One level of a node's path: what the entry at that place of a descriptor must
// be. A `*` in the key or the value stands for any characters, also none; each
// is matched against the entry's key or value alone.
struct NodeStep {
  std::string key;
  std::string value;  // empty: any value
  // All values that a wildcard matches share a bucket.
  bool share = false;

  // Whether the key or the value has a `*`.
  [[nodiscard]] bool is_wildcard() const;
  // As in a config path: "key" or "key_value".
  [[nodiscard]] std::string ToString() const;
};

// A limit of a node as it was written, and as it is answered.
struct NodeLimit {
  uint64_t requests_per_unit = 0;  // 0 refuses everything
  LimitUnit unit = LimitUnit::kUnknown;
  uint32_t unit_multiplier = 1;  // a period is so many units
  bool unlimited = false;        // then there is neither of them
  std::string name;              // what `replaces` of others calls it
  // Limits of these names, matched by any descriptor of the same request, are
  // dropped: neither asked nor charged.
  std::vector<std::string> replaces;
};

// What a rule from an Envoy-format file has in place of match and key: a node
// in the tree of its domain. It applies to a descriptor of exactly as many
// entries as its path has steps, if the walk from the root, which at each level
// takes the exact node, or else the first wildcard, or else the node without a
// value, and never goes back, ends at it. Plain data.
struct NodeRule {
  // The steps from the root. Of two nodes at one level the one whose rule comes
  // first is the first. None: only that the domain exists.
  std::vector<NodeStep> path;
  // None: what ends here has no limit. With several, all must allow. Those that
  // can be charged are in Rule::limits too, in the same order.
  std::vector<NodeLimit> limits;
  // Refuses only if all descriptors under such nodes are refused.
  bool quota_mode = false;
  // A JSON object of the file's own, for answers; empty if there is none.
  std::string metadata;
};

// INVALID_ARGUMENT that names the first bad field, or OK. Thread-safe.
[[nodiscard]] absl::Status ValidateNode(const NodeRule& node);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_NODE_RULE_H_
