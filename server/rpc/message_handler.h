#ifndef TOLLGATE_SERVER_RPC_MESSAGE_HANDLER_H_
#define TOLLGATE_SERVER_RPC_MESSAGE_HANDLER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "tollgate/v1/rate_limiter.pb.h"

namespace tollgate {

// The service's methods as functions of messages. Each thread of the server
// has its own, so that it may keep its storage between calls.
// Thread-compatible.
//
// `deadline_ns` is on the limiter's clock; `response` is empty. On an error
// the peer gets its status and `response` is dropped.
class MessageHandler {
 public:
  virtual ~MessageHandler() = default;

  virtual absl::Status ShouldAllow(const v1::ShouldAllowRequest& request,
                                   int64_t deadline_ns,
                                   v1::ShouldAllowResponse& response) = 0;
  virtual absl::Status ShouldAllowBatch(
      const v1::ShouldAllowBatchRequest& request, int64_t deadline_ns,
      v1::ShouldAllowBatchResponse& response) = 0;
};

// Called once for each thread, before the server listens.
using MessageHandlerFactory = std::function<std::unique_ptr<MessageHandler>()>;

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_MESSAGE_HANDLER_H_
