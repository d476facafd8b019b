#ifndef TOLLGATE_CLIENT_CLI_LOCAL_RULES_H_
#define TOLLGATE_CLIENT_CLI_LOCAL_RULES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/request.h"
#include "server/limiter/registry.h"
#include "server/limiter/rule_set.h"
#include "server/rules/rule_file.h"
#include "tollgate/v1/admin.pb.h"

namespace tollgate::cli {

// Rules from files, as a server that loaded them would have them in force, and
// its Admin answers about them. No buckets, no clock. Immutable.
class LocalRules {
 public:
  // Reads a file or a directory. INVALID_ARGUMENT with every mistake, one a
  // line as FILE:LINE:COLUMN.
  static absl::StatusOr<LocalRules> Load(const std::string& path,
                                         const LoadOptions& options);

  // The only domain there is. INVALID_ARGUMENT names them if there are others.
  [[nodiscard]] absl::StatusOr<std::string> OnlyDomain() const;

  // An empty domain means all.
  [[nodiscard]] v1::GetRulesResponse Get(absl::string_view domain) const;

  // INVALID_ARGUMENT names the field that is out of its bounds.
  [[nodiscard]] absl::StatusOr<v1::ExplainResponse> Explain(
      const client::Request& request) const;

 private:
  LocalRules() = default;

  std::unique_ptr<Registry> registry_ = std::make_unique<Registry>();
  RuleSet rules_;
  std::string hash_;
};

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_LOCAL_RULES_H_
