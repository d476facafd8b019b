#ifndef TOLLGATE_SERVER_STATUS_STATUS_JSON_H_
#define TOLLGATE_SERVER_STATUS_STATUS_JSON_H_

#include <string>

#include "server/status/service_status.h"

namespace tollgate {

// The status as one JSON object, at most about 500 KiB: the first
// kMaxShownRules rules and kMaxShownKeys keys, long texts cut, with "…" at the
// end. Bytes that are no UTF-8 become U+FFFD. Instants are whole milliseconds
// since the Unix epoch. For our page: names and meaning may change with the
// version. Thread-safe.
[[nodiscard]] std::string StatusJson(const ServiceStatus& status);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_STATUS_STATUS_JSON_H_
