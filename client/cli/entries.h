#ifndef TOLLGATE_CLIENT_CLI_ENTRIES_H_
#define TOLLGATE_CLIENT_CLI_ENTRIES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/request.h"

namespace tollgate::cli {

// Reads KEY=VALUE words as a descriptor; the value begins after the first "=".
// INVALID_ARGUMENT names the word that has no key or no "=".
absl::StatusOr<client::Descriptor> ParseEntries(
    const std::vector<std::string>& words);

// The same for one text of words with spaces between: "user=ana plan=paid".
absl::StatusOr<client::Descriptor> ParseDescriptor(absl::string_view text);

// Reads a duration such as "20ms" or "1.5s". `option` is for the message.
absl::StatusOr<absl::Duration> ParseTime(absl::string_view option,
                                         const std::string& text);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_ENTRIES_H_
