#include "client/grpc/refusal_status.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tollgate/v1/status_details.pb.h"

namespace tollgate::client {
namespace {

constexpr char kRetryInfo[] = "type.googleapis.com/google.rpc.RetryInfo";

std::string Message(const Decision& decision) {
  if (decision.outcome == Outcome::kImpossible) {
    return "the request asks for more than its limit can hold";
  }
  return absl::StrCat("over the limit, retry after ",
                      absl::FormatDuration(decision.retry_after));
}

}  // namespace

grpc::Status RefusalStatus(const Decision& decision) {
  if (decision.allowed) return grpc::Status::OK;
  v1::RpcStatus status;
  status.set_code(grpc::StatusCode::RESOURCE_EXHAUSTED);
  status.set_message(Message(decision));
  if (decision.outcome == Outcome::kRefused) {
    v1::RpcRetryInfo retry;
    absl::Duration wait = decision.retry_after;
    retry.mutable_retry_delay()->set_seconds(
        absl::IDivDuration(wait, absl::Seconds(1), &wait));
    retry.mutable_retry_delay()->set_nanos(
        static_cast<int32_t>(absl::ToInt64Nanoseconds(wait)));
    google::protobuf::Any* detail = status.add_details();
    detail->set_type_url(kRetryInfo);
    detail->set_value(retry.SerializeAsString());
  }
  return {grpc::StatusCode::RESOURCE_EXHAUSTED, status.message(),
          status.SerializeAsString()};
}

void AddPushback(const Decision& decision, grpc::ServerContextBase& context) {
  if (decision.allowed) return;
  int64_t ms = -1;  // do not try again
  if (decision.outcome == Outcome::kRefused) {
    ms = absl::ToInt64Milliseconds(
        absl::Ceil(decision.retry_after, absl::Milliseconds(1)));
    ms = std::min<int64_t>(ms, std::numeric_limits<int32_t>::max());
  }
  context.AddTrailingMetadata("grpc-retry-pushback-ms", absl::StrCat(ms));
}

}  // namespace tollgate::client
