#ifndef TOLLGATE_CLIENT_CLI_ENTRIES_H_
#define TOLLGATE_CLIENT_CLI_ENTRIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/request.h"
#include "client/wire.h"

namespace tollgate::cli {

// Of a request whose command line names none.
inline constexpr char kDefaultDomain[] = "default";

// A request as a command line has it.
struct RequestOptions {
  std::vector<std::string> entries;      // KEY=VALUE, of the first descriptor
  std::vector<std::string> descriptors;  // "KEY=VALUE ...", each one more
  std::string domain;
  uint32_t cost = 1;
};

// INVALID_ARGUMENT says what is wanted. Its bounds are not checked.
absl::StatusOr<client::Request> ToRequest(const RequestOptions& options);

// Reads KEY=VALUE words as a descriptor; the value begins after the first "=".
// INVALID_ARGUMENT names the word that has no key or no "=".
absl::StatusOr<client::Descriptor> ParseEntries(
    const std::vector<std::string>& words);

// The same for one text of words with spaces between: "user=ana plan=paid".
absl::StatusOr<client::Descriptor> ParseDescriptor(absl::string_view text);

// Writes the domain and the descriptors into a message of Admin.
template <typename Message>
void FillAdminRequest(const client::Request& request, Message& message) {
  v1::ShouldAllowRequest filled;
  client::FillRequest(request, request.cost, filled);
  message.set_domain(filled.domain());
  message.mutable_descriptors()->Swap(filled.mutable_descriptors());
}

// Reads a duration such as "20ms" or "1.5s". `option` is for the message.
absl::StatusOr<absl::Duration> ParseTime(absl::string_view option,
                                         const std::string& text);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_ENTRIES_H_
