#ifndef TOLLGATE_CLIENT_CLI_CLIENT_LOAD_H_
#define TOLLGATE_CLIENT_CLI_CLIENT_LOAD_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/load.h"
#include "server/base/clock.h"

namespace tollgate::cli {

struct ClientLoadOptions {
  std::string server;  // HOST:PORT
  std::string domain;
  client::Descriptor descriptor;  // as in LoadOptions
  uint64_t keys = 1000;           // 1 or more
  // Threads that ask and wait, each with one call out. 0: one caller that has
  // `in_flight` calls out and is called back.
  uint32_t callers = 0;
  uint32_t in_flight = 32;
  uint32_t max_batch = 100;  // as in ClientOptions; 1: plain calls
  absl::Duration duration = absl::Seconds(10);
};

// As RunLoad, through the client library: what a process that embeds it gets.
// A decision that the service did not give, directly or by a refusal that is
// remembered, is an error.
absl::StatusOr<LoadResult> RunClientLoad(const ClientLoadOptions& options,
                                         const Clock& clock);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_CLIENT_LOAD_H_
