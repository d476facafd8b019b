#ifndef TOLLGATE_CLIENT_WIRE_H_
#define TOLLGATE_CLIENT_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/batch_transport.h"
#include "client/decision.h"
#include "client/request.h"
#include "tollgate/v1/rate_limiter.pb.h"

namespace tollgate::client {

// Writes `request` at `cost`, in place of its own, over `message`, which keeps
// the memory that it has.
void FillRequest(const Request& request, uint32_t cost,
                 v1::ShouldAllowRequest& message);

void FillBatch(absl::Span<const Question> questions,
               v1::ShouldAllowBatchRequest& message);

// The same for giving `cost` tokens back that were taken at `decided_at`.
void FillRefund(const Request& request, uint32_t cost, absl::Time decided_at,
                absl::string_view overflow, v1::RefundRequest& message);

// The service's decision, or UNKNOWN if it has an outcome that this client
// does not know.
absl::StatusOr<Decision> ToDecision(const v1::ShouldAllowResponse& message);

// The answers to `count` questions, over `answers`, which keeps its memory.
// INTERNAL if there are not as many.
absl::Status TakeAnswers(const v1::ShouldAllowBatchResponse& message,
                         size_t count, std::vector<Answer>& answers);

// The message that says the same as `decision`; its source and error have no
// place in it.
v1::ShouldAllowResponse ToMessage(const Decision& decision);

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_WIRE_H_
