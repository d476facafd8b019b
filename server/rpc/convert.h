#ifndef TOLLGATE_SERVER_RPC_CONVERT_H_
#define TOLLGATE_SERVER_RPC_CONVERT_H_

#include <cstdint>
#include <vector>

#include "server/limiter/decision.h"
#include "server/limiter/request.h"
#include "tollgate/v1/rate_limiter.pb.h"

namespace tollgate {

// Shows a message of the wire as the core's Request, without copying text.
// Keeps its storage from one message to the next. Thread-compatible.
class RequestView {
 public:
  // Valid until the next call, and while `message` stands as it is. Does not
  // validate. An unset cost is 1.
  const Request& Show(const v1::ShouldAllowRequest& message,
                      int64_t deadline_ns);

 private:
  std::vector<Entry> entries_;
  std::vector<Descriptor> descriptors_;
  Request request_;
};

// `response` must be empty; `decision` must not be expired, which has no place
// in the proto.
void ToProto(const Decision& decision, v1::ShouldAllowResponse& response);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_CONVERT_H_
