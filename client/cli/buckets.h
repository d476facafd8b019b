#ifndef TOLLGATE_CLIENT_CLI_BUCKETS_H_
#define TOLLGATE_CLIENT_CLI_BUCKETS_H_

#include <string>

#include "client/cli/admin_calls.h"
#include "client/cli/entries.h"
#include "client/cli/output.h"

namespace tollgate::cli {

struct BucketOptions {
  RequestOptions request;  // its cost does not matter
  std::string rule;        // empty: each that applies
  ServerOptions server;
  bool json = false;
};

// Prints how the buckets are that a request selects; takes nothing. Exit
// status 0, or 2 if the server does not say.
int RunPeek(const BucketOptions& options, const Output& output);

// Makes the buckets full that a request selects, and prints how many there
// were. Exit status 0 also where there was none, or 2 if the server did not.
int RunReset(const BucketOptions& options, const Output& output);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_BUCKETS_H_
