#ifndef TOLLGATE_SERVER_APP_LOGGING_H_
#define TOLLGATE_SERVER_APP_LOGGING_H_

#include <string>

#include "absl/strings/string_view.h"
#include "server/app/server_options.h"

namespace tollgate {

// Sends the log of the whole process to stderr, in that format, from that
// level on. Once, before anything logs.
void StartLogging(LogLevel level, LogFormat format);

// `text` as the inside of a JSON string: quotes, backslashes and control
// characters escaped.
[[nodiscard]] std::string EscapeJson(absl::string_view text);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_APP_LOGGING_H_
