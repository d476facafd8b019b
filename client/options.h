#ifndef TOLLGATE_CLIENT_OPTIONS_H_
#define TOLLGATE_CLIENT_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/tls.h"

namespace tollgate::client {

// What decides while the service does not.
enum class OutagePolicy {
  kBackstop,  // a limiter inside this client
  kAllow,     // everything goes ahead
  kRefuse,    // nothing does
};

// Which of several addresses is asked.
enum class LoadBalancing {
  kPickFirst,   // the first that answers, until it is gone
  kRoundRobin,  // all in turn
};

// How a client behaves. The defaults suit a service in the same network.
struct ClientOptions {
  // Where the service listens: host:port, or any gRPC name: unix:/path, a DNS
  // name with several addresses (dns:///name:port), a list of addresses
  // (ipv4:192.0.2.1:8081,192.0.2.2:8081). Not empty.
  std::string target = "127.0.0.1:8081";

  // What becomes of several addresses. Default kPickFirst. With kRoundRobin
  // each call or batch goes to the next address: only where all of them share
  // their buckets (a Redis store), since servers that each keep their own would
  // together allow a multiple of the limits. A server whose health says that it
  // is about to stop is left out from then on.
  LoadBalancing load_balancing = LoadBalancing::kPickFirst;

  // Encrypts the connection, and proves who this client is. Default none: the
  // service must be in a network that is trusted.
  std::optional<TlsOptions> tls;

  // The longest that a decision may take, from the call to the answer; after
  // it the outage policy answers. 1 ms to 60 s, default 20 ms. Raise it where
  // the service is further than some milliseconds away; lower it where a
  // request cannot afford to wait that long.
  absl::Duration timeout = absl::Milliseconds(20);

  // What answers while the service cannot be reached, is too slow, or has
  // max_in_flight calls to answer already, where the service has pushed no rule
  // of the domain (see watch_policy). Default kBackstop. Choose kRefuse
  // where passing unlimited is worse than an outage (password guesses), kAllow
  // where nothing behind this client can be overrun.
  OutagePolicy outage_policy = OutagePolicy::kBackstop;

  // The backstop's limit, for all requests of this client together: that many
  // tokens in each period, all of them at once if none was taken for a period.
  // 1 to 2^32-1 tokens, default 1,000; 1 ms to 1 day, default 1 s. Set it to
  // what this process may pass on its own, above the largest cost that it
  // asks for: a cost above `backstop_tokens` is impossible for the backstop.
  uint64_t backstop_tokens = 1000;
  absl::Duration backstop_period = absl::Seconds(1);

  // Calls in a row that fail (no answer in time, no connection) before the
  // breaker opens and calls are answered locally, at no cost of time. 1 to
  // 1,000, default 3. Raise it where single losses are common.
  uint32_t breaker_failures = 3;

  // The pause before a probe asks whether the service is back, while the
  // breaker is open: at first the shorter, doubled after each probe that fails,
  // up to the longer, each shortened at random by up to a half so that clients
  // spread out. A probe is due to the next call after the pause, which does not
  // wait for it. 1 ms to 1 s, and the shorter not above the longer; defaults
  // 100 ms and 500 ms. 1 s is the most with which a client that is called
  // again and again uses the service within 2 s of its return.
  absl::Duration min_probe_interval = absl::Milliseconds(100);
  absl::Duration max_probe_interval = absl::Milliseconds(500);

  // Whether the client keeps a stream open on which the service pushes its
  // rules, to enforce them by itself in an outage: each by its `on_outage`, of
  // a limit an even share. Default true. Until they are there, and for domains
  // without rules, `outage_policy` above decides. False for tools that come and
  // go, since each stream counts as a client that shares the limits.
  bool watch_policy = true;

  // The domains whose rules are pushed, at most 1,000; default empty, which is
  // all. Name them where all rules together are many: the service pushes at
  // most 4 MiB, about 20,000 rules, to one client.
  std::vector<std::string> policy_domains;

  // Calls that may be out at the same time; beyond them the outage policy
  // answers, so that a slow service cannot pile up memory here. 1 to 65,536,
  // default 256. Raise it above (calls per second) x (the usual latency).
  uint32_t max_in_flight = 256;

  // How long a refusal of the service answers the same request at the same cost
  // here, without asking again: until the service would allow it (see
  // Decision::stands_for), and at most this long, which bounds how late tokens
  // that others give back and changed rules are seen. 0 to 1 min, default 1 s;
  // 0 asks each time. Raise it to make an abuser cheaper still.
  absl::Duration refusal_cache_ttl = absl::Seconds(1);

  // Calls that go to the service in one message. While one or two messages are
  // out, further calls gather and go together; an idle client sends each call
  // at once. 1 to 1,000, default 100; 1 sends each call on its own, which is
  // slower for everybody unless the service must see calls one by one. The
  // service must take messages of 64 KiB, as it does by default.
  uint32_t max_batch = 100;
};

// INVALID_ARGUMENT that names the first bad field, what it holds and what is
// wanted (`timeout: got 0, want 1ms to 1m`), or OK.
[[nodiscard]] absl::Status ValidateOptions(const ClientOptions& options);

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_OPTIONS_H_
