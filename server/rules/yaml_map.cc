#include "server/rules/yaml_map.h"

#include "server/rules/yaml_scalar.h"

namespace tollgate {
namespace {

// Maps that merge maps that merge maps: deeper ones are left out.
constexpr int kMaxMerges = 100;

bool IsMerge(const YamlNode& key) {
  return key.kind == YamlNode::Kind::kText && key.plain && key.text == "<<";
}

}  // namespace

YamlMap::YamlMap(const YamlNode& node) { Add(node, Rank::kOwn, 0); }

const YamlNode* YamlMap::Find(absl::string_view key) const {
  const auto found = by_key_.find(std::pair(key, true));
  return found == by_key_.end() ? nullptr : fields_[found->second].value;
}

bool YamlMap::IsTextKey(const YamlNode& key) {
  return key.kind == YamlNode::Kind::kText &&
         ResolveScalar(key).type == YamlScalar::Type::kText;
}

void YamlMap::Add(const YamlNode& map, Rank rank, int depth) {
  for (size_t i = 0; i + 1 < map.items.size(); i += 2) {
    if (!IsMerge(*map.items[i])) Put(*map.items[i], *map.items[i + 1], rank);
  }
  for (size_t i = 0; i + 1 < map.items.size(); i += 2) {
    if (IsMerge(*map.items[i])) Merge(*map.items[i + 1], depth + 1);
  }
}

void YamlMap::Merge(const YamlNode& from, int depth) {
  if (depth > kMaxMerges) return;
  if (from.kind == YamlNode::Kind::kMap) return Add(from, Rank::kMerged, depth);
  for (const YamlNode* item : from.items) {
    if (item->kind == YamlNode::Kind::kMap) Add(*item, Rank::kMerged, depth);
  }
}

void YamlMap::Put(const YamlNode& key, const YamlNode& value, Rank rank) {
  const auto [known, is_new] = by_key_.try_emplace(
      std::pair(absl::string_view(key.text), IsTextKey(key)), fields_.size());
  if (is_new) {
    fields_.push_back({&key, &value});
  } else if (rank == Rank::kOwn) {
    fields_[known->second] = {&key, &value};
  }
}

}  // namespace tollgate
