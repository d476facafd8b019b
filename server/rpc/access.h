#ifndef TOLLGATE_SERVER_RPC_ACCESS_H_
#define TOLLGATE_SERVER_RPC_ACCESS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "grpcpp/server_context.h"

namespace tollgate {

// DNS names and URIs of client certificates (subject alternative names),
// compared as they are written.
struct AccessOptions {
  std::vector<std::string> allow;  // who may ask; empty: everybody
  std::vector<std::string> admin;  // who may call Admin; empty: as `allow`
  bool serve_admin = true;         // false: nobody may call Admin
  // Who of those that may ask may ask about a domain; all about one without.
  absl::flat_hash_map<std::string, std::vector<std::string>> domains;
};

// Who may call what. Immutable, so thread-safe.
class Access {
 public:
  explicit Access(AccessOptions options);

  // Whether anybody is kept from anything.
  [[nodiscard]] bool restricts() const;

  // PERMISSION_DENIED for who may not.
  [[nodiscard]] absl::Status Check(const grpc::ServerContextBase& context,
                                   bool admin) const;
  // PERMISSION_DENIED, with the domain, for who may not ask about it.
  [[nodiscard]] absl::Status CheckDomain(const grpc::ServerContextBase& context,
                                         absl::string_view domain) const;

 private:
  const AccessOptions options_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_ACCESS_H_
