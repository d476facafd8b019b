#include "server/status/status_json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace tollgate {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxLimitsBytes = 200;  // a rule may have 64 tiers of 16
constexpr size_t kMaxKeyBytes = 300;     // the sketches cut keys before that
constexpr size_t kMaxLineBytes = 4096;

// Not in the middle of a character, if `text` is UTF-8.
std::string Cut(absl::string_view text, size_t max) {
  if (text.size() <= max) return std::string(text);
  size_t end = max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return absl::StrCat(text.substr(0, end), "…");
}

int64_t ToMs(int64_t ns) { return ns / 1'000'000; }

Json ToJson(const ShownRule& rule) {
  return {{"domain", rule.domain},
          {"rule", rule.rule},
          {"limits", Cut(rule.limits, kMaxLimitsBytes)},
          {"mode", rule.mode},
          {"allowed", rule.counts.allowed},
          {"refused", rule.counts.refused},
          {"shadowRefused", rule.counts.shadow_refused},
          {"impossible", rule.counts.impossible},
          {"overflow", rule.counts.overflow}};
}

Json ToJson(const ShownKey& key) {
  return {{"domain", key.domain},
          {"rule", key.rule},
          {"key", Cut(key.key, kMaxKeyBytes)},
          {"count", key.count},
          {"error", key.error},
          {"share", key.share},
          {"lastMs", ToMs(key.last_ns)},
          {"shadow", key.shadow}};
}

Json ToJson(const ShownLoad& load) {
  return {{"ok", load.ok},
          {"atMs", ToMs(load.at_ns)},
          {"error", Cut(load.error, kMaxLineBytes)},
          {"hash", load.hash},
          {"rules", load.rules}};
}

Json ToJson(const ShownMemory& memory) {
  return {{"buckets", memory.buckets},
          {"maxBuckets", memory.max_buckets},
          {"swept", memory.swept},
          {"overflow", memory.overflow},
          {"residentBytes", memory.resident_bytes},
          {"openFds", memory.open_fds}};
}

Json ServiceJson(const ServiceStatus& status) {
  return {{"inFlight", status.service.in_flight},
          {"maxInFlight", status.max_in_flight},
          {"expired", status.service.expired},
          {"overload", status.service.overload},
          {"invalid", status.service.invalid},
          {"watchers", status.service.watchers}};
}

Json ConnectionsJson(const ServiceStatus& status) {
  return {{"open", status.connections.open},
          {"max", status.max_connections},
          {"refused", status.connections.refused},
          {"killed", status.connections.killed}};
}

Json ToJson(const StoreStatus& store) {
  return {{"ok", store.ok},
          {"text", Cut(store.text, kMaxLineBytes)},
          {"errors", store.errors},
          {"outage", store.outage}};
}

Json StateFileJson(const ServiceStatus& status) {
  return {{"on", status.has_state_file},
          {"saves", status.state_file.saves},
          {"failures", status.state_file.failures},
          {"restored", status.state_file.restored},
          {"savedMs", ToMs(status.state_file.saved_at_ns)}};
}

template <typename Shown>
Json FirstOf(const std::vector<Shown>& all, size_t max) {
  Json out = Json::array();
  for (size_t i = 0; i < std::min(max, all.size()); ++i) {
    out.push_back(ToJson(all[i]));
  }
  return out;
}

}  // namespace

std::string StatusJson(const ServiceStatus& status) {
  const size_t rules_cut =
      status.rules.size() - std::min(kMaxShownRules, status.rules.size());
  const Json json = {{"atMs", ToMs(status.at_ns)},
                     {"startedMs", ToMs(status.started_ns)},
                     {"version", status.version},
                     {"ready", status.readiness.ready},
                     {"reason", Cut(status.readiness.reason, kMaxLineBytes)},
                     {"load", ToJson(status.load)},
                     {"rules", FirstOf(status.rules, kMaxShownRules)},
                     {"rulesLeftOut", status.rules_left_out + rules_cut},
                     {"refusedKeys",
                      {{"mode", status.refused_mode},
                       {"halfLifeSeconds", status.half_life_s},
                       {"missed", status.refused_missed},
                       {"keys", FirstOf(status.keys, kMaxShownKeys)},
                       {"leftOut", status.keys_left_out ||
                                       status.keys.size() > kMaxShownKeys}}},
                     {"memory", ToJson(status.memory)},
                     {"service", ServiceJson(status)},
                     {"connections", ConnectionsJson(status)},
                     {"store", ToJson(status.store)},
                     {"stateFile", StateFileJson(status)}};
  return json.dump(-1, ' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace);
}

}  // namespace tollgate
