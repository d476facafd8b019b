#include "server/limiter/match_index.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

#include "absl/hash/hash.h"

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
  std::map<std::pair<std::vector<uint32_t>, std::vector<uint32_t>>, uint32_t>
      shape_of_keys;
  for (uint32_t position = 0; position < rules.size(); ++position) {
    rules_.push_back(Compile(*rules[position]));
    const IndexedRule& rule = rules_.back();
    Shape shape;
    uint64_t hash = 0;
    for (const Value& value : rule.match) {
      shape.match_keys.push_back(value.key);
      hash = CombineHash(hash, value.text);
    }
    for (const auto& alternatives : rule.key_parts) {
      if (alternatives.size() == 1) shape.other_keys.push_back(alternatives[0]);
    }
    std::sort(shape.other_keys.begin(), shape.other_keys.end());
    const auto [it, is_new] = shape_of_keys.try_emplace(
        {shape.match_keys, shape.other_keys}, shapes_.size());
    const bool hashed = !shape.match_keys.empty();
    if (is_new) shapes_.push_back(std::move(shape));
    Shape& of_rule = shapes_[it->second];
    (hashed ? of_rule.by_values[hash] : of_rule.any_values).push_back(position);
  }
  ChoosePivots();
}

MatchIndex::IndexedRule MatchIndex::Compile(const Rule& rule) {
  IndexedRule compiled;
  for (const Condition& condition : rule.match) {
    compiled.match.push_back({keys_.Add(condition.key), condition.value});
  }
  std::sort(compiled.match.begin(), compiled.match.end(),
            [](const Value& a, const Value& b) { return a.key < b.key; });
  for (const KeyPart& part : rule.key) {
    auto& alternatives = compiled.key_parts.emplace_back();
    for (const std::string& name : part.alternatives) {
      alternatives.push_back(keys_.Add(name));
    }
  }
  compiled.shape_decides =
      rule.match.empty() &&
      std::all_of(rule.key.begin(), rule.key.end(), [](const KeyPart& part) {
        return part.alternatives.size() == 1;
      });
  return compiled;
}

void MatchIndex::ChoosePivots() {
  std::vector<uint32_t> shapes_with(keys_.size(), 0);
  for (const Shape& shape : shapes_) {
    for (const uint32_t key : shape.match_keys) ++shapes_with[key];
    for (const uint32_t key : shape.other_keys) ++shapes_with[key];
  }
  shapes_by_pivot_.resize(keys_.size());
  for (uint32_t i = 0; i < shapes_.size(); ++i) {
    std::vector<uint32_t> needed = shapes_[i].match_keys;
    needed.insert(needed.end(), shapes_[i].other_keys.begin(),
                  shapes_[i].other_keys.end());
    if (needed.empty()) {
      shapes_for_all_.push_back(i);
      continue;
    }
    const uint32_t pivot = *std::min_element(
        needed.begin(), needed.end(), [&](uint32_t a, uint32_t b) {
          return shapes_with[a] < shapes_with[b];
        });
    shapes_by_pivot_[pivot].push_back(i);
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

bool MatchIndex::Applies(const IndexedRule& rule,
                         const ResolvedDescriptor& descriptor) const {
  for (const Value& value : rule.match) {
    const absl::string_view* found = descriptor.Find(value.key);
    if (found == nullptr || *found != value.text) return false;
  }
  return std::all_of(
      rule.key_parts.begin(), rule.key_parts.end(),
      [&](const std::vector<uint32_t>& alternatives) {
        return std::any_of(
            alternatives.begin(), alternatives.end(),
            [&](uint32_t key) { return descriptor.Find(key) != nullptr; });
      });
}

bool MatchIndex::Fits(const Shape& shape, const ResolvedDescriptor& descriptor,
                      uint64_t* values_hash) {
  for (const uint32_t key : shape.match_keys) {
    const absl::string_view* value = descriptor.Find(key);
    if (value == nullptr) return false;
    *values_hash = CombineHash(*values_hash, *value);
  }
  return std::all_of(
      shape.other_keys.begin(), shape.other_keys.end(),
      [&](uint32_t key) { return descriptor.Find(key) != nullptr; });
}

void MatchIndex::MatchShape(const Shape& shape,
                            const ResolvedDescriptor& descriptor,
                            Positions& out) const {
  uint64_t hash = 0;
  if (!Fits(shape, descriptor, &hash)) return;
  const std::vector<uint32_t>* candidates = &shape.any_values;
  if (!shape.match_keys.empty()) {
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
  }
}

absl::string_view MatchIndex::KeyOf(uint32_t position,
                                    const ResolvedDescriptor& descriptor,
                                    Scratch& scratch) const {
  const auto& parts = rules_[position].key_parts;
  if (parts.size() == 1 && parts[0].size() == 1) {
    return *descriptor.Find(parts[0][0]);
  }
  scratch.clear();
  for (const auto& alternatives : parts) {
    for (uint32_t i = 0; i < alternatives.size(); ++i) {
      const absl::string_view* value = descriptor.Find(alternatives[i]);
      if (value == nullptr) continue;
      if (alternatives.size() > 1) scratch.push_back(static_cast<char>(i));
      AppendLength(value->size(), scratch);
      scratch.insert(scratch.end(), value->begin(), value->end());
      break;
    }
  }
  return {scratch.data(), scratch.size()};
}

}  // namespace tollgate
