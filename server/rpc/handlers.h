#ifndef TOLLGATE_SERVER_RPC_HANDLERS_H_
#define TOLLGATE_SERVER_RPC_HANDLERS_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/finish.h"
#include "server/rpc/admin_handler.h"
#include "server/rpc/gateway_handler.h"
#include "tollgate/v1/rate_limiter.pb.h"

namespace tollgate {

// OK, or why the peer may not ask about a domain.
using DomainCheck = absl::FunctionRef<absl::Status(absl::string_view domain)>;

// The methods of RateLimiter as functions of messages. Each thread of the
// server has its own, so that it may keep its storage between calls.
// Thread-compatible.
//
// `deadline_ns` is on the limiter's clock; `response` is empty. A method may
// finish later and on another thread; both messages live until then. On an
// error the peer gets its status and `response` is dropped. Whether the peer
// may ask about the one domain of a request is known before; `check`, which
// lives as long as the call of the function, is for those of a batch.
class MessageHandler {
 public:
  virtual ~MessageHandler() = default;

  virtual void ShouldAllow(const v1::ShouldAllowRequest& request,
                           int64_t deadline_ns,
                           v1::ShouldAllowResponse& response,
                           Finish finish) = 0;
  virtual void ShouldAllowBatch(const v1::ShouldAllowBatchRequest& request,
                                int64_t deadline_ns, DomainCheck check,
                                v1::ShouldAllowBatchResponse& response,
                                Finish finish) = 0;
  virtual void Refund(const v1::RefundRequest& request, int64_t deadline_ns,
                      v1::RefundResponse& response, Finish finish) = 0;
  virtual void Release(const v1::ReleaseRequest& request, int64_t deadline_ns,
                       v1::ReleaseResponse& response, Finish finish) = 0;
};

// What answers, one for each completion queue. None is null.
struct Handlers {
  std::unique_ptr<MessageHandler> rate_limiter;
  std::unique_ptr<AdminHandler> admin;
  std::unique_ptr<GatewayHandler> gateway;
};

// Called once for each thread, before the server listens.
using HandlersFactory = std::function<Handlers()>;

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_HANDLERS_H_
