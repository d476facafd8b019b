#include "server/limiter/match_index.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/hash/hash.h"
#include "server/base/address.h"

namespace tollgate {
namespace {

uint64_t CombineHash(uint64_t seed, absl::string_view value) {
  return absl::HashOf(seed, value);
}

void AppendLength(size_t length, MatchIndex::Scratch& out) {
  const auto length32 = static_cast<uint32_t>(length);
  char bytes[sizeof(length32)];
  std::memcpy(bytes, &length32, sizeof(length32));
  out.insert(out.end(), bytes, bytes + sizeof(bytes));
}

}  // namespace

MatchIndex::MatchIndex(absl::Span<const Rule* const> rules) {
  std::map<ShapeKey, uint32_t> shapes;
  for (uint32_t position = 0; position < rules.size(); ++position) {
    rules_.push_back(Compile(*rules[position]));
    Add(position, shapes);
  }
  ChoosePivots();
}

MatchIndex::IndexedRule MatchIndex::Compile(const Rule& rule) {
  IndexedRule compiled;
  for (const Condition& condition : rule.match) {
    compiled.match.push_back({keys_.Add(condition.key), condition.any_of});
  }
  std::sort(compiled.match.begin(), compiled.match.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  compiled.shape_decides = rule.match.empty();
  for (const KeyPart& part : rule.key) {
    auto& alternatives = compiled.key_parts.emplace_back();
    for (const KeySource& source : part.alternatives) {
      alternatives.push_back({keys_.Add(source.entry), source.prefix});
      if (source.prefix.has_value()) compiled.shape_decides = false;
    }
    if (alternatives.size() > 1) compiled.shape_decides = false;
  }
  if (rule.tier.has_value()) keys_.Add(rule.tier->entry);
  if (rule.reserve.has_value()) keys_.Add(rule.reserve->entry);
  return compiled;
}

MatchIndex::Shape& MatchIndex::ShapeOf(ShapeKey key,
                                       std::map<ShapeKey, uint32_t>& shapes) {
  const auto [it, is_new] =
      shapes.try_emplace(std::move(key), static_cast<uint32_t>(shapes_.size()));
  if (is_new) shapes_.emplace_back().key = it->first;
  return shapes_[it->second];
}

// Enters the rule once for each way to choose one value of each condition.
void MatchIndex::Add(uint32_t position, std::map<ShapeKey, uint32_t>& shapes) {
  const IndexedRule& rule = rules_[position];
  std::vector<uint32_t> other_keys;
  for (const auto& alternatives : rule.key_parts) {
    if (alternatives.size() == 1) other_keys.push_back(alternatives[0].key);
  }
  std::sort(other_keys.begin(), other_keys.end());
  if (rule.match.empty()) {
    ShapeOf({{}, std::move(other_keys)}, shapes).any_values.push_back(position);
    return;
  }
  std::vector<size_t> chosen(rule.match.size(), 0);
  while (true) {
    ShapeKey key{{}, other_keys};
    uint64_t hash = 0;
    for (size_t i = 0; i < chosen.size(); ++i) {
      const Pattern& pattern = rule.match[i].any_of[chosen[i]];
      key.values.push_back({rule.match[i].key,
                            pattern.is_exact() ? kWhole
                                               : static_cast<uint32_t>(
                                                     pattern.prefix().size())});
      hash = CombineHash(hash, pattern.prefix());
    }
    ShapeOf(std::move(key), shapes).by_values[hash].push_back(position);
    size_t i = 0;
    while (i < chosen.size() && ++chosen[i] == rule.match[i].any_of.size()) {
      chosen[i++] = 0;
    }
    if (i == chosen.size()) return;
  }
}

void MatchIndex::ChoosePivots() {
  const auto needed = [](const Shape& shape) {
    std::vector<uint32_t> keys = shape.key.other_keys;
    for (const Dimension& value : shape.key.values) keys.push_back(value.key);
    return keys;
  };
  std::vector<uint32_t> shapes_with(keys_.size(), 0);
  for (const Shape& shape : shapes_) {
    for (const uint32_t key : needed(shape)) ++shapes_with[key];
  }
  shapes_by_pivot_.resize(keys_.size());
  for (uint32_t i = 0; i < shapes_.size(); ++i) {
    const std::vector<uint32_t> keys = needed(shapes_[i]);
    if (keys.empty()) {
      shapes_for_all_.push_back(i);
      continue;
    }
    const uint32_t pivot = *std::min_element(
        keys.begin(), keys.end(), [&](uint32_t a, uint32_t b) {
          return shapes_with[a] < shapes_with[b];
        });
    shapes_by_pivot_[pivot].push_back(i);
    // Who comes by way of the pivot knows that it is there.
    std::vector<uint32_t>& others = shapes_[i].key.other_keys;
    others.erase(std::remove(others.begin(), others.end(), pivot),
                 others.end());
  }
}

ResolvedDescriptor MatchIndex::Resolve(Descriptor descriptor) const {
  ResolvedDescriptor resolved;
  for (const Entry& entry : descriptor) {
    const uint32_t key = keys_.Find(entry.key);
    if (key == NameTable::kNone || resolved.Find(key) != nullptr) continue;
    ResolvedDescriptor::Item& item = resolved.items_.emplace_back();
    item.key = key;
    item.value = entry.value;
  }
  return resolved;
}

bool MatchIndex::Has(const Source& source,
                     const ResolvedDescriptor& descriptor) {
  const absl::string_view* value = descriptor.Find(source.key);
  if (value == nullptr || !source.prefix.has_value()) return value != nullptr;
  Network network;
  if (ParseNetwork(*value, source.prefix->v4, source.prefix->v6, network)) {
    return true;
  }
  ++descriptor.bad_addresses_;
  return false;
}

bool MatchIndex::Applies(const IndexedRule& rule,
                         const ResolvedDescriptor& descriptor) {
  for (const NumberedCondition& condition : rule.match) {
    const absl::string_view* value = descriptor.Find(condition.key);
    if (value == nullptr ||
        std::none_of(condition.any_of.begin(), condition.any_of.end(),
                     [&](const Pattern& p) { return p.Matches(*value); })) {
      return false;
    }
  }
  return std::all_of(
      rule.key_parts.begin(), rule.key_parts.end(),
      [&](const std::vector<Source>& alternatives) {
        return std::any_of(
            alternatives.begin(), alternatives.end(),
            [&](const Source& source) { return Has(source, descriptor); });
      });
}

bool MatchIndex::Fits(const Shape& shape, const ResolvedDescriptor& descriptor,
                      uint64_t* values_hash) {
  for (const Dimension& dimension : shape.key.values) {
    const absl::string_view* value = descriptor.Find(dimension.key);
    if (value == nullptr) return false;
    if (dimension.prefix_bytes == kWhole) {
      *values_hash = CombineHash(*values_hash, *value);
    } else if (value->size() >= dimension.prefix_bytes) {
      *values_hash =
          CombineHash(*values_hash, value->substr(0, dimension.prefix_bytes));
    } else {
      return false;
    }
  }
  return std::all_of(
      shape.key.other_keys.begin(), shape.key.other_keys.end(),
      [&](uint32_t key) { return descriptor.Find(key) != nullptr; });
}

void MatchIndex::MatchShape(const Shape& shape,
                            const ResolvedDescriptor& descriptor,
                            Positions& out) const {
  uint64_t hash = 0;
  if (!Fits(shape, descriptor, &hash)) return;
  const std::vector<uint32_t>* candidates = &shape.any_values;
  if (!shape.key.values.empty()) {
    const auto it = shape.by_values.find(hash);
    if (it == shape.by_values.end()) return;
    candidates = &it->second;
  }
  for (const uint32_t position : *candidates) {
    const IndexedRule& rule = rules_[position];
    if (rule.shape_decides || Applies(rule, descriptor)) {
      out.push_back(position);
    }
  }
}

void MatchIndex::Match(const ResolvedDescriptor& descriptor,
                       Positions& out) const {
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  for (const uint32_t shape : shapes_for_all_) {
    MatchShape(shapes_[shape], descriptor, out);
  }
  for (const ResolvedDescriptor::Item& item : descriptor.items()) {
    for (const uint32_t shape : shapes_by_pivot_[item.key]) {
      MatchShape(shapes_[shape], descriptor, out);
    }
  }
  if (out.end() - out.begin() > first + 1) {
    std::sort(out.begin() + first, out.end());
    // Two values of one rule's list may fit.
    out.erase(std::unique(out.begin() + first, out.end()), out.end());
  }
}

absl::string_view MatchIndex::KeyOf(uint32_t position,
                                    const ResolvedDescriptor& descriptor,
                                    Scratch& scratch) const {
  const auto& parts = rules_[position].key_parts;
  if (parts.size() == 1 && parts[0].size() == 1 &&
      !parts[0][0].prefix.has_value()) {
    return *descriptor.Find(parts[0][0].key);
  }
  scratch.clear();
  const auto append = [&](absl::string_view text) {
    AppendLength(text.size(), scratch);
    scratch.insert(scratch.end(), text.begin(), text.end());
  };
  for (const auto& alternatives : parts) {
    for (uint32_t i = 0; i < alternatives.size(); ++i) {
      const absl::string_view* value = descriptor.Find(alternatives[i].key);
      if (value == nullptr) continue;
      const std::optional<AddressPrefix>& prefix = alternatives[i].prefix;
      Network network;
      if (prefix.has_value() &&
          !ParseNetwork(*value, prefix->v4, prefix->v6, network)) {
        continue;
      }
      if (alternatives.size() > 1) scratch.push_back(static_cast<char>(i));
      append(prefix.has_value() ? network.AsKey() : *value);
      break;
    }
  }
  return {scratch.data(), scratch.size()};
}

}  // namespace tollgate
