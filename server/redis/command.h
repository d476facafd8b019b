#ifndef TOLLGATE_SERVER_REDIS_COMMAND_H_
#define TOLLGATE_SERVER_REDIS_COMMAND_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tollgate::redis {

// Appends a command in the protocol of Redis (RESP 2). Written here and not by
// hiredis, so that it goes into a connection's own buffer without a copy.
// Thread-safe.
void AppendCommand(absl::Span<const absl::string_view> words, std::string& out);

// EVALSHA or EVAL: `verb` of `script`, its digest or its text.
void AppendScript(absl::string_view verb, absl::string_view script,
                  absl::Span<const std::string> keys,
                  absl::Span<const std::string> args, std::string& out);

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_COMMAND_H_
