#include "server/limiter/descriptor_index.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"

namespace tollgate {
namespace {

using Node = DescriptorIndex::Node;

bool HasWildcard(absl::string_view text) {
  return text.find('*') != absl::string_view::npos;
}

// Wildcard values of one key. Those of one shape (the lengths of the text
// before the first `*` and after the last one) are found by hash.
class Wildcards {
 public:
  void Add(const Node& node) {
    Pattern pattern = Pattern::Parse(node.step.value);
    const size_t prefix = pattern.prefix().size();
    const size_t suffix = pattern.suffix().size();
    auto shape = std::find_if(shapes_.begin(), shapes_.end(), [&](auto& s) {
      return s.prefix == prefix && s.suffix == suffix;
    });
    if (shape == shapes_.end()) {
      shapes_.push_back({prefix, suffix, node.order, {}});
      shape = std::prev(shapes_.end());
    }
    shape
        ->by_ends[absl::HashOf(absl::string_view(pattern.prefix()),
                               absl::string_view(pattern.suffix()))]
        .push_back({std::move(pattern), &node});
  }

  // The first in order that matches, or null.
  [[nodiscard]] const Node* Find(absl::string_view value) const {
    const Node* first = nullptr;
    for (const Shape& shape : shapes_) {
      // Shapes are in the order of their first node.
      if (first != nullptr && shape.first_order > first->order) break;
      if (value.size() < shape.prefix + shape.suffix) continue;
      const auto found = shape.by_ends.find(
          absl::HashOf(value.substr(0, shape.prefix),
                       value.substr(value.size() - shape.suffix)));
      if (found == shape.by_ends.end()) continue;
      for (const auto& [pattern, node] : found->second) {
        if (first != nullptr && node->order > first->order) break;
        if (pattern.Matches(value)) {
          first = node;
          break;
        }
      }
    }
    return first;
  }

 private:
  struct Shape {
    size_t prefix;
    size_t suffix;
    uint32_t first_order;
    absl::flat_hash_map<size_t, std::vector<std::pair<Pattern, const Node*>>>
        by_ends;
  };
  std::vector<Shape> shapes_;
};

// The nodes of one key at one level.
struct KeyNodes {
  absl::flat_hash_map<std::string, const Node*> exact;
  Wildcards wildcards;
  const Node* key_only = nullptr;
};

// A node with a `*` in its key.
struct KeyWildcard {
  Pattern key;
  Pattern value;  // without one, any
  const Node* node;

  [[nodiscard]] bool Matches(const Entry& entry) const {
    return key.Matches(entry.key) && value.Matches(entry.value);
  }
};

DescriptorIndex::Way WayTo(const NodeStep& step) {
  if (step.is_wildcard()) return DescriptorIndex::Way::kWildcard;
  return step.value.empty() ? DescriptorIndex::Way::kKeyOnly
                            : DescriptorIndex::Way::kExact;
}

void Append(absl::string_view text, DescriptorIndex::Scratch& out) {
  const auto length = static_cast<uint32_t>(text.size());
  char bytes[sizeof(length)];
  std::memcpy(bytes, &length, sizeof(length));
  out.insert(out.end(), bytes, bytes + sizeof(bytes));
  out.insert(out.end(), text.begin(), text.end());
}

}  // namespace

struct DescriptorIndex::Level {
  std::deque<Node> nodes;  // in order; they stay where they are
  absl::flat_hash_map<std::string, KeyNodes> by_key;
  std::vector<KeyWildcard> key_wildcards;
};

DescriptorIndex::DescriptorIndex() : root_(std::make_unique<Level>()) {}
DescriptorIndex::DescriptorIndex(DescriptorIndex&&) noexcept = default;
DescriptorIndex& DescriptorIndex::operator=(DescriptorIndex&&) noexcept =
    default;
DescriptorIndex::~DescriptorIndex() = default;

absl::StatusOr<DescriptorIndex> DescriptorIndex::Create(
    absl::Span<const Rule* const> rules) {
  DescriptorIndex index;
  Known known;
  for (uint32_t position = 0; position < rules.size(); ++position) {
    const Rule& rule = *rules[position];
    Node* node = nullptr;
    for (const NodeStep& step : rule.node->path) {
      if (node != nullptr && node->is_leaf()) {
        node->children = std::make_unique<Level>();
      }
      node = &Insert(node == nullptr ? *index.root_ : *node->children, step,
                     known);
    }
    if (node == nullptr) continue;  // the domain's own
    if (node->rule != kNone) {
      return absl::InvalidArgumentError(
          absl::StrCat("rule \"", rule.name, "\": its path is also that of \"",
                       rules[node->rule]->name, "\""));
    }
    node->rule = position;
  }
  return index;
}

DescriptorIndex::Node& DescriptorIndex::Insert(Level& level,
                                               const NodeStep& step,
                                               Known& known) {
  Node*& found = known[{&level, step.key, step.value}];
  if (found != nullptr) return *found;
  Node& node = level.nodes.emplace_back();
  found = &node;
  node.step = step;
  node.way = WayTo(step);
  node.order = static_cast<uint32_t>(level.nodes.size());
  if (HasWildcard(step.key)) {
    level.key_wildcards.push_back(
        {Pattern::Parse(step.key),
         Pattern::Parse(step.value.empty() ? "*" : step.value), &node});
    return node;
  }
  KeyNodes& of_key = level.by_key[step.key];
  if (step.value.empty()) {
    of_key.key_only = &node;
  } else if (HasWildcard(step.value)) {
    of_key.wildcards.Add(node);
  } else {
    of_key.exact[step.value] = &node;
  }
  return node;
}

const DescriptorIndex::Node* DescriptorIndex::Next(const Level& level,
                                                   const Entry& entry) {
  const auto found = level.by_key.find(entry.key);
  const KeyNodes* of_key =
      found == level.by_key.end() ? nullptr : &found->second;
  if (of_key != nullptr) {
    const auto exact = of_key->exact.find(entry.value);
    if (exact != of_key->exact.end()) return exact->second;
  }
  const Node* first =
      of_key == nullptr ? nullptr : of_key->wildcards.Find(entry.value);
  for (const KeyWildcard& wildcard : level.key_wildcards) {
    if (first != nullptr && wildcard.node->order > first->order) break;
    if (wildcard.Matches(entry)) {
      first = wildcard.node;
      break;
    }
  }
  if (first != nullptr) return first;
  return of_key == nullptr ? nullptr : of_key->key_only;
}

uint32_t DescriptorIndex::Find(Descriptor descriptor, Scratch& key) const {
  const Level* level = root_.get();
  const Node* node = nullptr;
  for (const Entry& entry : descriptor) {
    if (level == nullptr) return kNone;  // deeper than any path
    node = Next(*level, entry);
    if (node == nullptr) return kNone;
    if (node->way != Way::kExact && !node->step.share) {
      if (HasWildcard(node->step.key)) Append(entry.key, key);
      Append(entry.value, key);
    }
    level = node->children.get();
  }
  return node == nullptr ? kNone : node->rule;
}

DescriptorIndex::Walk DescriptorIndex::WalkOf(Descriptor descriptor) const {
  Walk walk;
  const Level* level = root_.get();
  for (const Entry& entry : descriptor) {
    if (level == nullptr) return walk;
    const Node* node = Next(*level, entry);
    if (node == nullptr) return walk;
    walk.push_back(node);
    level = node->children.get();
  }
  return walk;
}

}  // namespace tollgate
