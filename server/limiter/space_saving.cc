#include "server/limiter/space_saving.h"

#include <algorithm>
#include <utility>

namespace tollgate {

SpaceSaving::SpaceSaving(size_t capacity, int64_t half_life_ns, int64_t now_ns)
    : capacity_(capacity),
      half_life_ns_(half_life_ns),
      since_ns_(now_ns),
      last_ns_(now_ns),
      age_(now_ns / half_life_ns) {}

void SpaceSaving::Add(const Fingerprint& id, int64_t now_ns, bool shadow,
                      absl::FunctionRef<void(std::string&)> write_text) {
  Fade(now_ns);
  ++total_;
  last_ns_ = std::max(last_ns_, now_ns);
  uint32_t slot = 0;
  const auto found = slot_of_.find(id);
  if (found != slot_of_.end()) {
    slot = found->second;
  } else {
    slot = MakeRoom();
    HeavyKey& key = slots_[slot].key;
    key.id = id;
    key.text.clear();
    write_text(key.text);
    key.last_ns = now_ns;
    slot_of_.emplace(id, slot);
  }
  HeavyKey& key = slots_[slot].key;
  key.last_ns = std::max(key.last_ns, now_ns);
  key.shadow = shadow;
  Raise(slot);
}

uint32_t SpaceSaving::MakeRoom() {
  if (slots_.size() < capacity_) {
    const auto slot = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back().place = slot;
    ranking_.push_back(slot);
    return slot;
  }
  const uint32_t slot = ranking_.back();
  HeavyKey& key = slots_[slot].key;
  slot_of_.erase(key.id);
  key.error = key.count;
  return slot;
}

void SpaceSaving::Raise(uint32_t slot) {
  // It trades places with the first of those that are counted as often, so
  // that the ranking stays in order.
  const uint64_t count = slots_[slot].key.count;
  const auto first = std::partition_point(
      ranking_.begin(), ranking_.end(),
      [&](uint32_t s) { return slots_[s].key.count > count; });
  const auto place = static_cast<uint32_t>(first - ranking_.begin());
  std::swap(*first, ranking_[slots_[slot].place]);
  std::swap(slots_[ranking_[slots_[slot].place]].place, slots_[slot].place);
  slots_[slot].place = place;
  ++slots_[slot].key.count;
}

void SpaceSaving::Fade(int64_t now_ns) {
  const int64_t age = now_ns / half_life_ns_;
  if (age <= age_) return;
  const int64_t halvings = age - age_;
  age_ = age;
  // More than 63 halvings leave nothing of any count.
  const auto shift = static_cast<int>(std::min<int64_t>(halvings, 63));
  const uint64_t rest = (uint64_t{1} << shift) - 1;
  total_ >>= shift;
  for (Slot& slot : slots_) {
    HeavyKey& key = slot.key;
    key.count >>= shift;
    // Rounded up, or count - error could exceed the exact count, which may
    // have been rounded down.
    key.error = std::min(
        (key.error >> shift) + ((key.error & rest) != 0 ? 1 : 0), key.count);
  }
  while (!ranking_.empty() && slots_[ranking_.back()].key.count == 0) {
    DropLast();
  }
}

void SpaceSaving::DropLast() {
  const uint32_t gap = ranking_.back();
  ranking_.pop_back();
  slot_of_.erase(slots_[gap].key.id);
  if (gap + 1 != slots_.size()) {
    slots_[gap] = std::move(slots_.back());
    ranking_[slots_[gap].place] = gap;
    slot_of_[slots_[gap].key.id] = gap;
  }
  slots_.pop_back();
}

std::vector<HeavyKey> SpaceSaving::Top(size_t max) const {
  std::vector<HeavyKey> top;
  const size_t size = std::min(max, ranking_.size());
  top.reserve(size);
  for (size_t place = 0; place < size; ++place) {
    top.push_back(slots_[ranking_[place]].key);
  }
  return top;
}

}  // namespace tollgate
