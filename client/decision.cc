#include "client/decision.h"

namespace tollgate::client {

absl::string_view OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAllowed:
      return "allowed";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kImpossible:
      return "impossible";
  }
  return "unknown";
}

absl::string_view SourceName(Source source) {
  switch (source) {
    case Source::kService:
      return "service";
    case Source::kRefusalCache:
      return "refusal_cache";
    case Source::kBackstop:
      return "backstop";
    case Source::kOutagePolicy:
      return "outage_policy";
  }
  return "unknown";
}

}  // namespace tollgate::client
