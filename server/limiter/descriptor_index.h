#ifndef TOLLGATE_SERVER_LIMITER_DESCRIPTOR_INDEX_H_
#define TOLLGATE_SERVER_LIMITER_DESCRIPTOR_INDEX_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/limiter/pattern.h"
#include "server/limiter/request.h"
#include "server/limiter/rule.h"

namespace tollgate {

// The nodes of one domain's Envoy-format rules as a tree of levels, in which a
// descriptor's entries find their way one by one: at each level the node with
// that very key and value, or else the first wildcard in the order of the
// rules, or else the node with that key and no value; never back. Exact nodes
// are found by hash. Wildcards of one key are found by a hash of the text
// before the first and after the last `*`, so that only those that agree in
// both are compared; wildcards with a `*` in the key are tried one by one.
// Immutable once made.
class DescriptorIndex {
 public:
  static constexpr uint32_t kNone = 0xFFFFFFFF;

  // How a level was passed.
  enum class Way { kNone, kExact, kWildcard, kKeyOnly };

  // One node. The children are empty in a leaf.
  struct Level;
  struct Node {
    NodeStep step;
    Way way = Way::kNone;   // how it is reached
    uint32_t rule = kNone;  // the rule at it, if there is one
    uint32_t order = 0;     // among its siblings
    std::unique_ptr<Level> children;
    [[nodiscard]] bool is_leaf() const { return children == nullptr; }
  };

  // All rules must have a node; a rule is known by its position.
  // INVALID_ARGUMENT if two have the same path.
  static absl::StatusOr<DescriptorIndex> Create(
      absl::Span<const Rule* const> rules);
  DescriptorIndex(DescriptorIndex&&) noexcept;
  DescriptorIndex& operator=(DescriptorIndex&&) noexcept;
  ~DescriptorIndex();

  using Scratch = absl::InlinedVector<char, 256>;

  // The rule at the node where the descriptor ends, or kNone. Into `key` go the
  // bytes that tell buckets of that rule apart: each value, length-prefixed,
  // that the path leaves open and does not share.
  [[nodiscard]] uint32_t Find(Descriptor descriptor, Scratch& key) const;

  // The nodes that the descriptor passes, from the root, as far as it gets.
  using Walk = absl::InlinedVector<const Node*, 4>;
  [[nodiscard]] Walk WalkOf(Descriptor descriptor) const;

 private:
  // Where each step of each level is, while the tree grows.
  using Known =
      absl::flat_hash_map<std::tuple<const Level*, std::string, std::string>,
                          Node*>;

  DescriptorIndex();

  static Node& Insert(Level& level, const NodeStep& step, Known& known);
  static const Node* Next(const Level& level, const Entry& entry);

  std::unique_ptr<Level> root_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_DESCRIPTOR_INDEX_H_
