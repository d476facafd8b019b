#include "server/rpc/access.h"

#include <grpc/grpc_security_constants.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "grpcpp/security/auth_context.h"

namespace tollgate {
namespace {

// Whether the peer has shown a certificate with one of these.
bool HasOneOf(const grpc::ServerContextBase& context,
              const std::vector<std::string>& identities) {
  const std::shared_ptr<const grpc::AuthContext> peer = context.auth_context();
  if (peer == nullptr || !peer->IsPeerAuthenticated()) return false;
  for (const char* property :
       {GRPC_PEER_DNS_PROPERTY_NAME, GRPC_PEER_URI_PROPERTY_NAME}) {
    for (const grpc::string_ref& name : peer->FindPropertyValues(property)) {
      const absl::string_view text(name.data(), name.size());
      if (std::find(identities.begin(), identities.end(), text) !=
          identities.end()) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

Access::Access(AccessOptions options) : options_(std::move(options)) {}

bool Access::restricts() const {
  return !options_.allow.empty() || !options_.admin.empty() ||
         !options_.serve_admin || !options_.domains.empty();
}

absl::Status Access::Check(const grpc::ServerContextBase& context,
                           bool admin) const {
  if (admin && !options_.serve_admin) {
    return absl::PermissionDeniedError("Admin is off at this server");
  }
  const std::vector<std::string>& identities =
      admin && !options_.admin.empty() ? options_.admin : options_.allow;
  if (identities.empty() || HasOneOf(context, identities)) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(
      "no DNS name or URI of the client's certificate is one that may call "
      "this");
}

absl::Status Access::CheckDomain(const grpc::ServerContextBase& context,
                                 absl::string_view domain) const {
  const auto identities = options_.domains.find(domain);
  if (identities == options_.domains.end() ||
      HasOneOf(context, identities->second)) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "domain: no DNS name or URI of the client's certificate is one that may "
      "ask about \"",
      domain, "\""));
}

}  // namespace tollgate
