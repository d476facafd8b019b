#include "client/http_headers.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/headers/rate_limit_headers.h"

namespace tollgate::client {
namespace {

tollgate::Outcome ToCore(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAllowed:
      return tollgate::Outcome::kAllowed;
    case Outcome::kRefused:
      return tollgate::Outcome::kRefused;
    case Outcome::kImpossible:
      break;
  }
  return tollgate::Outcome::kImpossible;
}

tollgate::HeaderProfile ToCore(HeaderProfile profile) {
  return profile == HeaderProfile::kLegacy ? tollgate::HeaderProfile::kLegacy
                                           : tollgate::HeaderProfile::kDraft10;
}

Quota ToQuota(const RuleStatus& status) {
  Quota quota;
  quota.name = status.rule;
  quota.tokens = status.tokens;
  quota.period_ns = absl::ToInt64Nanoseconds(status.period);
  quota.burst = status.burst;
  quota.remaining = status.remaining;
  quota.reset_after_ns = absl::ToInt64Nanoseconds(status.reset_after);
  quota.retry_after_ns = absl::ToInt64Nanoseconds(status.retry_after);
  quota.outcome = ToCore(status.outcome);
  return quota;
}

}  // namespace

std::vector<HttpHeader> HttpHeaders(const Decision& decision,
                                    HeaderProfile profile) {
  std::vector<Quota> quotas;
  for (const RuleStatus& status : decision.statuses) {
    if (status.shadow || status.unlimited) continue;
    quotas.push_back(ToQuota(status));
  }
  std::vector<HttpHeader> headers;
  for (HeaderField& field : RateLimitHeaders(ToCore(profile), quotas)) {
    headers.push_back({std::move(field.name), std::move(field.value)});
  }
  // The outage policy refuses without a rule.
  if (quotas.empty() && decision.outcome == Outcome::kRefused) {
    headers.push_back(
        {"Retry-After", absl::StrCat(WholeSeconds(
                            absl::ToInt64Nanoseconds(decision.retry_after)))});
  }
  return headers;
}

}  // namespace tollgate::client
