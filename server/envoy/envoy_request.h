#ifndef TOLLGATE_SERVER_ENVOY_ENVOY_REQUEST_H_
#define TOLLGATE_SERVER_ENVOY_ENVOY_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "server/limiter/request.h"

namespace tollgate {

// Shows a gateway's message as the core's Request, without copying text. Keeps
// its storage from one message to the next. Thread-compatible.
class EnvoyRequestView {
 public:
  using Message = envoy::service::ratelimit::v3::RateLimitRequest;

  // Valid until the next call, and while `message` stands as it is. Does not
  // validate. Hits of 0 for the whole request are 1. Descriptors without
  // entries ask nothing, which is no error, and are left out.
  const Request& Show(const Message& message, int64_t deadline_ns);

  // Where in the message each of the shown request's descriptors is.
  [[nodiscard]] const std::vector<size_t>& places() const { return places_; }

 private:
  std::vector<Entry> entries_;
  std::vector<Descriptor> descriptors_;
  std::vector<DescriptorTerms> terms_;
  std::vector<size_t> places_;
  Request request_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_ENVOY_ENVOY_REQUEST_H_
