#ifndef TOLLGATE_SERVER_REDIS_REDIS_OPTIONS_H_
#define TOLLGATE_SERVER_REDIS_REDIS_OPTIONS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tollgate::redis {

// Where a server listens. A plain value.
struct Endpoint {
  std::string host;  // a name, an IPv4 address, or an IPv6 one without brackets
  int port = 6379;   // 1 to 65535

  // "host:port", "[::1]:port".
  [[nodiscard]] std::string ToString() const;
  friend bool operator==(const Endpoint& a, const Endpoint& b) = default;
};

// Whether keys are spread over the nodes of a Redis Cluster. kDetect asks each
// server when it is reached.
enum class Topology { kDetect, kSingle, kCluster };

// How to reach Redis. A plain value.
struct RedisOptions {
  // Tried in turn until one answers: any reachable node of a cluster will do;
  // without a cluster, it is the one that is no replica.
  std::vector<Endpoint> seeds;
  Topology topology = Topology::kDetect;

  // What AUTH sends, if there is a password. An empty user is the default one.
  // Never logged.
  std::string user;
  std::string password;

  // To each server, 1 to 16. One carries about as much as Redis can do; the
  // second goes on while the first waits for its socket.
  int connections = 2;
  // Runs that may be under way at once, 1 or more; more of them are turned
  // away.
  size_t max_pending = 16384;
  // A connection that owes an answer for so long is given up, and Redis counts
  // as gone until it answers again. A few times the deadline of runs.
  absl::Duration stall = absl::Milliseconds(100);
  // The longest pause, at least 1 ms, between attempts to reach a server.
  absl::Duration max_backoff = absl::Milliseconds(250);

  // "redis://user@host:port,...": for people, without the password.
  [[nodiscard]] std::string ToString() const;
};

// Reads
//   redis://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...][/?cluster=C]
// where C is auto (default), yes or no, and USER and PASSWORD may have %XX
// escapes. INVALID_ARGUMENT for anything else, without the password in its
// message.
absl::StatusOr<RedisOptions> ParseRedisUrl(absl::string_view url);

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_REDIS_OPTIONS_H_
