#include "server/limiter/registry.h"

#include "absl/strings/str_cat.h"

namespace tollgate {

Registry::Registry() = default;

Registry::~Registry() {
  for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
}

const DomainId* Registry::DomainLocked(absl::string_view name) {
  auto it = domains_.find(name);
  if (it == domains_.end()) {
    auto id = std::make_unique<DomainId>();
    id->index = static_cast<uint32_t>(domains_.size());
    id->name = std::string(name);
    it = domains_.emplace(id->name, std::move(id)).first;
  }
  return it->second.get();
}

const DomainId* Registry::Domain(absl::string_view name) {
  MutexLock lock(mutex_);
  return DomainLocked(name);
}

const RuleId* Registry::Rule(absl::string_view domain, absl::string_view name) {
  MutexLock lock(mutex_);
  const DomainId* domain_id = DomainLocked(domain);
  auto& id = rules_[std::pair(domain_id->index, std::string(name))];
  if (id == nullptr) {
    id = std::make_unique<RuleId>();
    id->index = static_cast<uint32_t>(rules_.size() - 1);
    id->domain = domain_id;
    id->name = std::string(name);
  }
  return id.get();
}

absl::StatusOr<uint32_t> Registry::BindLimit(const RuleId& rule,
                                             absl::string_view slot,
                                             const Algorithm& algorithm,
                                             const Limit& limit,
                                             int64_t now_ns) {
  MutexLock lock(mutex_);
  uint32_t& current =
      current_[SlotKey{rule.index, std::string(slot), &algorithm}];
  if (current != 0 && Version(current).limit == limit) return current;
  if (next_id_ == kChunk * kChunks) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "over ", next_id_ - 1,
        " different limits since the start: restart to load more"));
  }
  const uint32_t id = next_id_++;
  std::atomic<LimitVersion*>& chunk = chunks_[id / kChunk];
  if (chunk.load(std::memory_order_relaxed) == nullptr) {
    chunk.store(new LimitVersion[kChunk], std::memory_order_release);
  }
  LimitVersion& version = chunk.load(std::memory_order_relaxed)[id % kChunk];
  version.rule = &rule;
  version.slot = std::string(slot);
  version.algorithm = &algorithm;
  version.limit = limit;
  if (current != 0) {
    LimitVersion& replaced = chunks_[current / kChunk].load(
        std::memory_order_relaxed)[current % kChunk];
    replaced.replaced_at_ns = now_ns;
    replaced.successor.store(id, std::memory_order_release);
  }
  current = id;
  return id;
}

uint32_t Registry::FindLimit(absl::string_view domain, absl::string_view rule,
                             absl::string_view slot,
                             const Algorithm& algorithm) const {
  MutexLock lock(mutex_);
  const auto domain_id = domains_.find(domain);
  if (domain_id == domains_.end()) return 0;
  const auto rule_id =
      rules_.find(std::pair(domain_id->second->index, std::string(rule)));
  if (rule_id == rules_.end()) return 0;
  const auto current = current_.find(
      SlotKey{rule_id->second->index, std::string(slot), &algorithm});
  return current == current_.end() ? 0 : current->second;
}

uint32_t Registry::rule_count() const {
  MutexLock lock(mutex_);
  return static_cast<uint32_t>(rules_.size());
}

uint32_t Registry::domain_count() const {
  MutexLock lock(mutex_);
  return static_cast<uint32_t>(domains_.size());
}

}  // namespace tollgate
