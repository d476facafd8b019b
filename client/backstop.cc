#include "client/backstop.h"

#include <array>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "client/core_decision.h"
#include "server/limiter/rule.h"
#include "server/limiter/rule_set.h"

namespace tollgate::client {
namespace {

constexpr char kName[] = "backstop";

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
  Decision decision = ToClientDecision(limiter_.Decide(request));
  decision.source = Source::kBackstop;
  return decision;
}

}  // namespace tollgate::client
