#ifndef TOLLGATE_SERVER_LIMITER_MATCH_INDEX_H_
#define TOLLGATE_SERVER_LIMITER_MATCH_INDEX_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/limiter/name_table.h"
#include "server/limiter/request.h"
#include "server/limiter/rule.h"

namespace tollgate {

// The entries of one descriptor that some rule asks for, by the index's number
// for their key. Made by MatchIndex::Resolve, on the stack.
class ResolvedDescriptor {
 public:
  struct Item {
    uint32_t key;
    absl::string_view value;
  };
  // Null if the descriptor has no such entry.
  [[nodiscard]] const absl::string_view* Find(uint32_t key) const {
    for (const Item& item : items_) {
      if (item.key == key) return &item.value;
    }
    return nullptr;
  }
  [[nodiscard]] absl::Span<const Item> items() const { return items_; }
  // Values that a rule wanted as an address and that were none.
  [[nodiscard]] uint32_t bad_addresses() const { return bad_addresses_; }

 private:
  friend class MatchIndex;
  absl::InlinedVector<Item, 8> items_;
  mutable uint32_t bad_addresses_ = 0;  // counted while matching
};

// Finds the rules that apply to a descriptor without looking at the others:
// tuple space search (Srinivasan, Suri, Varghese, SIGCOMM 1999). Rules that ask
// for the same entry keys share a shape; within a shape a hash of the values
// finds the rules that ask for them. Of a value with a wildcard only the text
// before it is hashed, and rules with prefixes of other lengths are of another
// shape. A shape is looked at only if the descriptor has the key that the
// fewest shapes need. So the time follows the shapes that share keys with the
// descriptor, not the rules. Immutable after construction.
class MatchIndex {
 public:
  MatchIndex() = default;
  explicit MatchIndex(absl::Span<const Rule* const> rules);

  using Positions = absl::InlinedVector<uint32_t, 8>;

  // The number of an entry key, for ResolvedDescriptor::Find, or
  // NameTable::kNone if no rule asks for it.
  [[nodiscard]] uint32_t NumberOf(absl::string_view key) const {
    return keys_.Find(key);
  }

  // Keeps the descriptor's entries that any rule asks for; the first where a
  // key occurs twice.
  [[nodiscard]] ResolvedDescriptor Resolve(Descriptor descriptor) const;

  // Adds to `out` the positions of the rules that apply, in ascending order.
  void Match(const ResolvedDescriptor& descriptor, Positions& out) const;

  using Scratch = absl::InlinedVector<char, 256>;

  // The bytes that identify a bucket of the rule at `position`, which must
  // apply to `descriptor`. Where the key is one entry, its value; otherwise for
  // each part its length-prefixed value and, where the part has alternatives,
  // which one it was. Lies in `scratch` or in the descriptor's own text.
  [[nodiscard]] absl::string_view KeyOf(uint32_t position,
                                        const ResolvedDescriptor& descriptor,
                                        Scratch& scratch) const;

 private:
  struct Source {
    uint32_t key;
    std::optional<AddressPrefix> prefix;
  };
  struct NumberedCondition {
    uint32_t key;
    std::vector<Pattern> any_of;
  };
  struct IndexedRule {
    std::vector<NumberedCondition> match;        // sorted by key
    std::vector<std::vector<Source>> key_parts;  // alternatives
    bool shape_decides = false;  // nothing to compare but what is there
  };
  // What part of an entry's value is hashed.
  struct Dimension {
    uint32_t key;
    uint32_t prefix_bytes;  // kWhole: all of it
    friend auto operator<=>(const Dimension&, const Dimension&) = default;
  };
  static constexpr uint32_t kWhole = 0xFFFFFFFF;
  // What rules of one shape ask for.
  struct ShapeKey {
    std::vector<Dimension> values;     // by key; these are hashed
    std::vector<uint32_t> other_keys;  // must be there, with any value
    friend auto operator<=>(const ShapeKey&, const ShapeKey&) = default;
  };
  struct Shape {
    ShapeKey key;
    std::vector<uint32_t> any_values;  // the rules, if no values are hashed
    absl::flat_hash_map<uint64_t, std::vector<uint32_t>> by_values;
  };

  IndexedRule Compile(const Rule& rule);
  Shape& ShapeOf(ShapeKey key, std::map<ShapeKey, uint32_t>& shapes);
  void Add(uint32_t position, std::map<ShapeKey, uint32_t>& shapes);
  void ChoosePivots();
  static bool Fits(const Shape& shape, const ResolvedDescriptor& descriptor,
                   uint64_t* values_hash);
  void MatchShape(const Shape& shape, const ResolvedDescriptor& descriptor,
                  Positions& out) const;
  static bool Has(const Source& source, const ResolvedDescriptor& descriptor);
  [[nodiscard]] static bool Applies(const IndexedRule& rule,
                                    const ResolvedDescriptor& descriptor);

  NameTable keys_;
  std::vector<IndexedRule> rules_;
  std::vector<Shape> shapes_;
  std::vector<std::vector<uint32_t>> shapes_by_pivot_;  // by key number
  std::vector<uint32_t> shapes_for_all_;                // need no single key
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_MATCH_INDEX_H_
