#ifndef TOLLGATE_CLIENT_CLIENT_H_
#define TOLLGATE_CLIENT_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/decision.h"
#include "client/options.h"
#include "client/request.h"
#include "client/stats.h"

namespace tollgate::client {

class ClientCore;

// Asks the rate limiter service whether requests may go ahead, and answers in
// its place while it is gone: every call ends with a Decision, within the
// timeout. After failures in a row a breaker opens, so an outage costs no time;
// once the service is back, calls reach it again within 2 s.
//
//   auto client = tollgate::client::Client::Create({});
//   if (!client.ok()) ...
//   auto decision = (*client)->ShouldAllow({"shop", {{{"user", "ana"}}}});
//   if (!decision.allowed) ...  // say 429, retry after decision.retry_after
//
// Make one for the process and share it: it has one connection and one thread,
// however many calls are out. As any gRPC user, it does not survive a fork().
// Thread-safe.
class Client {
 public:
  // Starts to connect and returns at once, whether or not the service is
  // there. INVALID_ARGUMENT names the option that is out of its range.
  static absl::StatusOr<std::unique_ptr<Client>> Create(ClientOptions options);

  // Asynchronous calls that are still out are called back before it returns.
  // Nobody may be in ShouldAllow, and this must not run in a callback.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Blocks for the answer, at most ClientOptions::timeout. Throws nothing. A
  // request outside the bounds of client/request.h is not sent: see
  // Decision::error.
  Decision ShouldAllow(const Request& request);

  // As ShouldAllow, without blocking. `callback` is called exactly once: before
  // this returns where the answer is a local one, otherwise on the client's
  // only thread, about as late as the timeout at worst. It must be quick and
  // must not throw, block or destroy the client; it may ask again by
  // ShouldAllowAsync.
  void ShouldAllowAsync(const Request& request,
                        std::function<void(Decision)> callback);

  // Frees the slots that an allowed request holds under concurrency rules, when
  // it is done: `ticket` is Decision::ticket, and an empty one does nothing.
  // Returns at once and is done on the side, once: what gets lost is counted in
  // ClientStats::give_back_failures, and its slots expire. At most
  // ClientOptions::max_in_flight of these are out, and none is sent while the
  // breaker is open.
  void Release(const std::string& ticket);

  // Gives back `cost` tokens of what an allowed request took, such as after it
  // turned out to be cheaper: `decided_at` is Decision::decided_at. Does
  // nothing if it is InfinitePast, since the service took nothing then, or for
  // a cost of 0. Otherwise as Release; what gets lost stays spent.
  // `overflow` is Decision::overflow: without it, what a bucket that keys share
  // gave does not go back there.
  void Refund(const Request& request, uint32_t cost, absl::Time decided_at,
              absl::string_view overflow = "");

  // What this client has done so far, for metrics.
  [[nodiscard]] ClientStats stats() const;

 private:
  explicit Client(std::unique_ptr<ClientCore> core);

  std::unique_ptr<ClientCore> core_;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_CLIENT_H_
