#include "server/redis/run_error.h"

#include <array>

namespace tollgate::redis {
namespace {

struct Row {
  absl::string_view name;
  absl::string_view word;  // that Redis begins with; empty if it is ours
};

// In the order of RunError.
constexpr std::array<Row, kRunErrors> kRows = {{
    {"timeout", ""},
    {"not_connected", ""},
    {"queue_full", ""},
    {"connection_lost", ""},
    {"too_many_redirects", ""},
    {"busy", "BUSY"},
    {"clusterdown", "CLUSTERDOWN"},
    {"crossslot", "CROSSSLOT"},
    {"loading", "LOADING"},
    {"masterdown", "MASTERDOWN"},
    {"misconf", "MISCONF"},
    {"noauth", "NOAUTH"},
    {"nobucket", "NOBUCKET"},
    {"noperm", "NOPERM"},
    {"noreplicas", "NOREPLICAS"},
    {"noscript", "NOSCRIPT"},
    {"oom", "OOM"},
    {"readonly", "READONLY"},
    {"tryagain", "TRYAGAIN"},
    {"wrongpass", "WRONGPASS"},
    {"wrongtype", "WRONGTYPE"},
    {"other", ""},
}};

}  // namespace

absl::string_view NameOf(RunError error) {
  return kRows[static_cast<size_t>(error)].name;
}

RunError ErrorOf(absl::string_view message) {
  const absl::string_view word = message.substr(0, message.find(' '));
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (!word.empty() && kRows[i].word == word) {
      return static_cast<RunError>(i);
    }
  }
  return RunError::kOther;
}

}  // namespace tollgate::redis
