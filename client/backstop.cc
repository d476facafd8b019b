#include "client/backstop.h"

#include <array>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "server/limiter/rule.h"
#include "server/limiter/rule_set.h"

namespace tollgate::client {
namespace {

constexpr char kName[] = "backstop";

Outcome ToOutcome(tollgate::Outcome outcome) {
  switch (outcome) {
    case tollgate::Outcome::kAllowed:
      return Outcome::kAllowed;
    case tollgate::Outcome::kImpossible:
      return Outcome::kImpossible;
    case tollgate::Outcome::kRefused:
    case tollgate::Outcome::kExpired:     // the request below has no deadline
    case tollgate::Outcome::kOverridden:  // and no limit of its own
      break;
  }
  return Outcome::kRefused;
}

RuleStatus ToStatus(const tollgate::RuleStatus& from) {
  RuleStatus to;
  to.rule = kName;
  to.tokens = from.limit.tokens();
  to.period = absl::Nanoseconds(from.limit.period_ns());
  to.burst = from.limit.burst();
  to.remaining = from.remaining;
  to.reset_after = absl::Nanoseconds(from.reset_after_ns);
  to.retry_after = absl::Nanoseconds(from.retry_after_ns);
  to.outcome = ToOutcome(from.outcome);
  return to;
}

}  // namespace

// One bucket needs no more than one stripe.
Backstop::Backstop(const Clock& clock)
    : limiter_(clock, LimiterOptions{.stripes = 1}) {}

absl::StatusOr<std::unique_ptr<Backstop>> Backstop::Create(
    const ClientOptions& options, const Clock& clock) {
  auto limit = Limit::Create(options.backstop_tokens, options.backstop_period);
  if (!limit.ok()) return limit.status();
  Rule rule;
  rule.domain = kName;
  rule.name = kName;
  rule.limits = {*limit};
  rule.algorithm = FindAlgorithm("token_bucket");
  std::vector<Rule> rules;
  rules.push_back(std::move(rule));
  auto rule_set = RuleSet::Create(std::move(rules));
  if (!rule_set.ok()) return rule_set.status();
  auto backstop = absl::WrapUnique(new Backstop(clock));
  absl::Status status = backstop->limiter_.SetRules(*std::move(rule_set));
  if (!status.ok()) return status;
  return backstop;
}

Decision Backstop::Decide(uint32_t cost) {
  // The rule has no key: what describes the request does not matter.
  static constexpr std::array<tollgate::Entry, 1> kEntries{
      {{"source", "backstop"}}};
  const std::array<tollgate::Descriptor, 1> descriptors{
      tollgate::Descriptor(kEntries)};
  tollgate::Request request;
  request.domain = kName;
  request.descriptors = descriptors;
  request.cost = cost;
  const tollgate::Decision decided = limiter_.Decide(request);

  Decision decision;
  decision.allowed = decided.allowed();
  decision.outcome = ToOutcome(decided.outcome);
  decision.retry_after = absl::Nanoseconds(decided.retry_after_ns);
  decision.source = Source::kBackstop;
  decision.statuses.reserve(decided.statuses.size());
  for (const tollgate::RuleStatus& status : decided.statuses) {
    decision.statuses.push_back(ToStatus(status));
  }
  return decision;
}

}  // namespace tollgate::client
