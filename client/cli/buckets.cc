#include "client/cli/buckets.h"

#include "client/cli/cli.h"
#include "client/cli/json.h"
#include "client/cli/status_table.h"

namespace tollgate::cli {
namespace {

template <typename Response, typename Message>
absl::StatusOr<Response> Call(const BucketOptions& options, Message message) {
  const absl::StatusOr<client::Request> request = ToRequest(options.request);
  if (!request.ok()) return request.status();
  FillAdminRequest(*request, message);
  message.set_rule(options.rule);
  return CallAdmin(options.server, message);
}

}  // namespace

int RunPeek(const BucketOptions& options, const Output& output) {
  const auto response =
      Call<v1::PeekBucketResponse>(options, v1::PeekBucketRequest());
  if (!response.ok()) {
    output.err << "tollgate peek: " << response.status().message() << "\n";
    return kExitError;
  }
  if (options.json) {
    output.out << MessageJson(*response) << "\n";
  } else if (response->buckets().empty()) {
    output.out << "no rule applies, so there is no bucket\n";
  } else {
    output.out << StatusTable(response->buckets(), output.palette);
  }
  return kExitOk;
}

int RunReset(const BucketOptions& options, const Output& output) {
  const auto response =
      Call<v1::ResetBucketResponse>(options, v1::ResetBucketRequest());
  if (!response.ok()) {
    output.err << "tollgate reset: " << response.status().message() << "\n";
    return kExitError;
  }
  if (options.json) {
    output.out << MessageJson(*response) << "\n";
  } else if (response->count() == 0) {
    output.out
        << "no bucket to reset: no such rule applies, or none was taken from\n";
  } else {
    output.out << Tinted("reset " + Counted(response->count(), "bucket"),
                         Tint::kGreen, output.palette)
               << "\n";
  }
  return kExitOk;
}

}  // namespace tollgate::cli
