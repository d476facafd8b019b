#ifndef TOLLGATE_CLIENT_CLI_ADMIN_CALLS_H_
#define TOLLGATE_CLIENT_CLI_ADMIN_CALLS_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/cli/tls_flags.h"
#include "tollgate/v1/admin.pb.h"

namespace tollgate::cli {

struct ServerOptions {
  std::string address;  // HOST:PORT
  std::string timeout;  // a duration, of the whole call
  TlsFlags tls;
};

// One call of the service's Admin each, over a connection of its own. Blocks
// for the answer, at most the timeout. INVALID_ARGUMENT, NOT_FOUND and
// FAILED_PRECONDITION have the service's words; the message of another error
// begins with "no answer from".
absl::StatusOr<v1::GetRulesResponse> CallAdmin(
    const ServerOptions& server, const v1::GetRulesRequest& request);
absl::StatusOr<v1::ExplainResponse> CallAdmin(
    const ServerOptions& server, const v1::ExplainRequest& request);
absl::StatusOr<v1::PeekBucketResponse> CallAdmin(
    const ServerOptions& server, const v1::PeekBucketRequest& request);
absl::StatusOr<v1::ResetBucketResponse> CallAdmin(
    const ServerOptions& server, const v1::ResetBucketRequest& request);
absl::StatusOr<v1::TopRefusedResponse> CallAdmin(
    const ServerOptions& server, const v1::TopRefusedRequest& request);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_ADMIN_CALLS_H_
