#ifndef TOLLGATE_SERVER_ENVOY_ENVOY_HANDLER_H_
#define TOLLGATE_SERVER_ENVOY_ENVOY_HANDLER_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "server/envoy/envoy_answer.h"
#include "server/envoy/envoy_request.h"
#include "server/limiter/ask_store.h"
#include "server/limiter/bucket_store.h"
#include "server/limiter/limiter.h"

namespace tollgate {

// ShouldRateLimit of Envoy's RateLimitService as a function of messages.
// Thread-compatible: each thread has its own, which keeps its storage between
// calls. Calls of a store that answers later overlap.
class EnvoyHandler {
 public:
  using Message = envoy::service::ratelimit::v3::RateLimitRequest;
  using Response = envoy::service::ratelimit::v3::RateLimitResponse;

  // Both must outlive the handler and its calls; `store` has the buckets under
  // the rules of `limiter`.
  EnvoyHandler(const Limiter& limiter, BucketStore& store,
               const EnvoyAnswerOptions& options)
      : limiter_(limiter), store_(store), options_(options) {}

  // `deadline_ns` is on the limiter's clock; `response` must be empty. Calls
  // `finish(absl::Status)` once, maybe later and on another thread; both
  // messages and the handler live until then. A request over the limit is OK.
  // On an error nothing was taken:
  //   INVALID_ARGUMENT    the request is bad; the message says what
  //   UNAVAILABLE         no rules are loaded yet
  //   DEADLINE_EXCEEDED   the deadline had passed
  //   RESOURCE_EXHAUSTED  gateways brought too many different limits along
  template <typename Finish>
  void ShouldRateLimit(const Message& request, int64_t deadline_ns,
                       Response& response, Finish finish) {
    const Request& view = view_.Show(request, deadline_ns);
    absl::Status valid = Validate(request, view);
    if (!valid.ok()) return finish(std::move(valid));
    // By the time of a later answer the view is another request's.
    std::vector<size_t> places;
    if (!store_.is_immediate()) places = view_.places();
    AskToDecide(store_, view,
                [this, &request, &response, places = std::move(places),
                 finish = std::move(finish)](const Decision& decision) mutable {
                  finish(Answer(decision, request,
                                store_.is_immediate() ? view_.places() : places,
                                response));
                });
  }

 private:
  // OK, or what is bad of `message`, which `request` shows.
  static absl::Status Validate(const Message& message, const Request& request);
  // What becomes of a call that was decided so.
  absl::Status Answer(const Decision& decision, const Message& request,
                      const std::vector<size_t>& places,
                      Response& response) const;

  const Limiter& limiter_;
  BucketStore& store_;
  const EnvoyAnswerOptions options_;
  EnvoyRequestView view_;  // of the request that is being handed to the store
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_ENVOY_ENVOY_HANDLER_H_
