#ifndef TOLLGATE_CLIENT_CHECK_REQUEST_H_
#define TOLLGATE_CLIENT_CHECK_REQUEST_H_

#include "absl/status/status.h"
#include "client/request.h"

namespace tollgate::client {

// The service's own check, so that a bad request costs no call.
// INVALID_ARGUMENT names the field (`descriptors[2].entries[0].key: empty`).
[[nodiscard]] absl::Status CheckRequest(const Request& request);

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_CHECK_REQUEST_H_
