#include "server/rpc/access.h"

#include <grpc/grpc_security_constants.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/string_view.h"
#include "grpcpp/security/auth_context.h"

namespace tollgate {
namespace {

bool HasOneOf(const grpc::AuthContext& peer,
              const std::vector<std::string>& identities) {
  for (const char* property :
       {GRPC_PEER_DNS_PROPERTY_NAME, GRPC_PEER_URI_PROPERTY_NAME}) {
    for (const grpc::string_ref& name : peer.FindPropertyValues(property)) {
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
         !options_.serve_admin;
}

absl::Status Access::Check(const grpc::ServerContextBase& context,
                           bool admin) const {
  if (admin && !options_.serve_admin) {
    return absl::PermissionDeniedError("Admin is off at this server");
  }
  const std::vector<std::string>& identities =
      admin && !options_.admin.empty() ? options_.admin : options_.allow;
  if (identities.empty()) return absl::OkStatus();
  const std::shared_ptr<const grpc::AuthContext> peer = context.auth_context();
  if (peer != nullptr && peer->IsPeerAuthenticated() &&
      HasOneOf(*peer, identities)) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(
      "no DNS name or URI of the client's certificate is one that may call "
      "this");
}

}  // namespace tollgate
