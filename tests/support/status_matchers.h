#ifndef TOLLGATE_TESTS_SUPPORT_STATUS_MATCHERS_H_
#define TOLLGATE_TESTS_SUPPORT_STATUS_MATCHERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"

namespace tollgate {

inline const absl::Status& AsStatus(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& AsStatus(const absl::StatusOr<T>& status_or) {
  return status_or.status();
}

MATCHER(IsOk, "is OK") {
  *result_listener << AsStatus(arg).ToString();
  return AsStatus(arg).ok();
}

// A status of that code whose message matches.
MATCHER_P2(StatusIs, code, message, "has the code and message") {
  const absl::Status& status = AsStatus(arg);
  *result_listener << status.ToString();
  return status.code() == code &&
         ::testing::ExplainMatchResult(message, std::string(status.message()),
                                       result_listener);
}

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_SUPPORT_STATUS_MATCHERS_H_
