#ifndef TOLLGATE_CLIENT_CLI_TOP_H_
#define TOLLGATE_CLIENT_CLI_TOP_H_

#include <cstdint>
#include <string>

#include "client/cli/admin_calls.h"
#include "client/cli/output.h"
#include "server/base/clock.h"
#include "tollgate/v1/admin.pb.h"

namespace tollgate::cli {

struct TopOptions {
  std::string domain;   // empty: all
  std::string rule;     // empty: all
  uint32_t limit = 10;  // keys of each rule
  std::string interval;
  bool once = false;
  bool json = false;  // once, too
  ServerOptions server;
};

// Prints which keys are refused most. On a screen, again and again until a
// signal ends it, through outages of the server too; elsewhere once. `clock`
// tells the time of day. Exit status 0, or 2 if the server does not say.
int RunTop(const TopOptions& options, const Clock& clock, const Output& output);

// For people: a table for each rule.
[[nodiscard]] std::string TopText(const v1::TopRefusedResponse& response,
                                  Palette palette);

// The first lines of `text`, at most `lines`, 1 or more; if that is not all of
// them, the last one says how many are missing.
[[nodiscard]] std::string FirstLines(const std::string& text, size_t lines);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_TOP_H_
