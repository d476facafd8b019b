#ifndef TOLLGATE_SERVER_STATUS_SERVICE_STATUS_H_
#define TOLLGATE_SERVER_STATUS_SERVICE_STATUS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "server/http/http_server.h"
#include "server/metrics/metrics.h"

namespace tollgate {

// At most so many rules and refused keys are shown; the rest is counted.
inline constexpr size_t kMaxShownRules = 500;
inline constexpr size_t kMaxShownKeys = 50;

// A rule in force.
struct ShownRule {
  std::string domain;
  std::string rule;
  std::string limits;  // such as "10/second"
  std::string mode;    // such as "enforce"
  RuleCounts counts;
};

// A key that is refused, as RefusedKeysReport has it.
struct ShownKey {
  std::string domain;
  std::string rule;
  std::string key;  // any bytes: a caller wrote it
  uint64_t count = 0;
  uint64_t error = 0;
  double share = 0;  // of the rule's refusals, 0 to 1
  int64_t last_ns = 0;
  bool shadow = false;
};

// How the rules were last loaded.
struct ShownLoad {
  bool ok = false;
  int64_t at_ns = 0;
  std::string error;  // one line for each mistake
  std::string hash;   // of those in force
  size_t rules = 0;   // in force
};

struct ShownMemory {
  uint64_t buckets = 0;
  uint64_t max_buckets = 0;
  uint64_t swept = 0;     // forgotten since the start
  uint64_t overflow = 0;  // requests that shared an overflow bucket, ever
  uint64_t resident_bytes = 0;
  uint64_t open_fds = 0;
};

// Where the buckets live, and whether they can be reached.
struct StoreStatus {
  bool ok = true;
  std::string text;     // a line for people
  uint64_t errors = 0;  // runs that failed since the start
  uint64_t outage = 0;  // requests that outage policies decided, ever
};

// What a person wants to know of the service in an incident. Counts are since
// the start, so that whoever reads it twice can tell rates; instants are of one
// clock, in nanoseconds since the Unix epoch. A plain value.
struct ServiceStatus {
  int64_t at_ns = 0;
  int64_t started_ns = 0;
  std::string version;
  Readiness readiness;
  ShownLoad load;
  std::vector<ShownRule> rules;  // those with the most refusals first
  size_t rules_left_out = 0;
  // "on", "hashed" or "off", as --top-refused.
  std::string refused_mode;
  int64_t half_life_s = 0;      // of the counts of keys
  uint64_t refused_missed = 0;  // refusals that are in no key's count
  std::vector<ShownKey> keys;   // the most refused first
  bool keys_left_out = false;
  ShownMemory memory;
  ServiceCounts service;
  int64_t max_in_flight = 0;
  ConnectionCounts connections;
  int64_t max_connections = 0;  // 0: as many as descriptors allow
  StoreStatus store;
  bool has_state_file = false;
  StateCounts state_file;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_STATUS_SERVICE_STATUS_H_
