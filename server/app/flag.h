#ifndef TOLLGATE_SERVER_APP_FLAG_H_
#define TOLLGATE_SERVER_APP_FLAG_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/app/server_options.h"

namespace tollgate {

// One flag of tollgate-server. `set` stores a value or says what is wanted; the
// caller adds the flag's name.
struct Flag {
  const char* name;
  const char* type;
  const char* help;
  absl::Status (*set)(const std::string& value, ServerOptions& options);
  // May be given again; the value then has all, with commas between.
  bool repeatable = false;
};

// `wanted` ends the sentence "want ...".
[[nodiscard]] inline absl::Status BadFlag(absl::string_view value,
                                          absl::string_view wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat("got \"", value, "\", want ", wanted));
}

template <typename Int>
absl::Status SetInt(const std::string& value, Int min, Int max, Int& out) {
  Int number = 0;
  if (!absl::SimpleAtoi(value, &number) || number < min || number > max) {
    return BadFlag(value,
                   absl::StrCat("a whole number from ", min, " to ", max));
  }
  out = number;
  return absl::OkStatus();
}

// A duration from `min` to `max`, which `wanted` says.
absl::Status SetDuration(const std::string& value, absl::Duration min,
                         absl::Duration max, absl::string_view wanted,
                         absl::Duration& out);

// HOST:PORT or [IPV6]:PORT.
absl::Status SetAddress(const std::string& value, std::string& out);

absl::Status SetBool(const std::string& value, bool& out);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_APP_FLAG_H_
