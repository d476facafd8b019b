#include "client/cli/admin_calls.h"

#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "client/channel.h"
#include "client/cli/entries.h"
#include "tollgate/v1/admin.grpc.pb.h"

namespace tollgate::cli {
namespace {

using Stub = v1::Admin::Stub;

template <typename Request, typename Response>
absl::StatusOr<Response> Call(const ServerOptions& server,
                              const Request& request,
                              grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                           const Request&,
                                                           Response*)) {
  const absl::StatusOr<absl::Duration> timeout =
      ParseTime("--timeout", server.timeout);
  if (!timeout.ok()) return timeout.status();
  const absl::StatusOr<std::optional<client::TlsOptions>> tls =
      ReadTls(server.tls);
  if (!tls.ok()) return tls.status();
  grpc::ChannelArguments args;
  if (tls->has_value() && !(*tls)->server_name.empty()) {
    args.SetSslTargetNameOverride((*tls)->server_name);
  }
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  args.SetMaxReceiveMessageSize(-1);  // 100,000 rules are more than 4 MB
  Stub stub(grpc::CreateCustomChannel(server.address,
                                      client::MakeCredentials(*tls), args));
  grpc::ClientContext context;
  context.set_deadline(
      gpr_time_from_nanos(absl::ToInt64Nanoseconds(*timeout), GPR_TIMESPAN));
  Response response;
  const grpc::Status status = (stub.*method)(&context, request, &response);
  if (status.ok()) return response;
  const absl::Status error(static_cast<absl::StatusCode>(status.error_code()),
                           status.error_message());
  if (absl::IsInvalidArgument(error) || absl::IsNotFound(error) ||
      absl::IsFailedPrecondition(error)) {
    return error;
  }
  return absl::Status(
      error.code(),
      absl::StrCat("no answer from ", server.address, ": ", error.ToString()));
}

}  // namespace

absl::StatusOr<v1::GetRulesResponse> CallAdmin(
    const ServerOptions& server, const v1::GetRulesRequest& request) {
  return Call(server, request, &Stub::GetRules);
}

absl::StatusOr<v1::ExplainResponse> CallAdmin(
    const ServerOptions& server, const v1::ExplainRequest& request) {
  return Call(server, request, &Stub::Explain);
}

absl::StatusOr<v1::PeekBucketResponse> CallAdmin(
    const ServerOptions& server, const v1::PeekBucketRequest& request) {
  return Call(server, request, &Stub::PeekBucket);
}

absl::StatusOr<v1::ResetBucketResponse> CallAdmin(
    const ServerOptions& server, const v1::ResetBucketRequest& request) {
  return Call(server, request, &Stub::ResetBucket);
}

absl::StatusOr<v1::TopRefusedResponse> CallAdmin(
    const ServerOptions& server, const v1::TopRefusedRequest& request) {
  return Call(server, request, &Stub::TopRefused);
}

}  // namespace tollgate::cli
