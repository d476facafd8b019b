#include "server/limiter/decision.h"

namespace tollgate {

absl::string_view OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAllowed:
      return "allowed";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kImpossible:
      return "impossible";
    case Outcome::kExpired:
      return "expired";
  }
  return "unknown";
}

}  // namespace tollgate
