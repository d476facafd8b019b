#ifndef TOLLGATE_CLIENT_CLI_STATUS_TABLE_H_
#define TOLLGATE_CLIENT_CLI_STATUS_TABLE_H_

#include <string>

#include "client/cli/output.h"
#include "tollgate/v1/rate_limiter.pb.h"

namespace tollgate::cli {

using RuleStatuses = google::protobuf::RepeatedPtrField<v1::RuleStatus>;

// What rules say of a request, or how their buckets are, one a line.
[[nodiscard]] std::string StatusTable(const RuleStatuses& statuses,
                                      Palette palette);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_STATUS_TABLE_H_
