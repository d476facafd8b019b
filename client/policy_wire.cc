#include "client/policy_wire.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/outage_refusal.h"

namespace tollgate::client {
namespace {

using Limits = google::protobuf::RepeatedPtrField<v1::PolicyLimit>;

absl::Duration ToDuration(const google::protobuf::Duration& message) {
  return absl::Seconds(message.seconds()) + absl::Nanoseconds(message.nanos());
}

absl::StatusOr<Limit> ToLimit(const v1::Limit& message) {
  return Limit::Create(message.tokens(), ToDuration(message.period()),
                       message.burst());
}

absl::StatusOr<std::vector<Limit>> ToLimits(const Limits& messages) {
  std::vector<Limit> limits;
  for (const v1::PolicyLimit& message : messages) {
    absl::StatusOr<Limit> limit = ToLimit(message.limit());
    if (limit.ok() && message.has_max_delay()) {
      limit = limit->WithHold(ToDuration(message.max_delay()));
    }
    if (!limit.ok()) return limit.status();
    limits.push_back(*limit);
  }
  return limits;
}

void ReadMatch(const v1::PolicyRule& message, Rule& rule) {
  for (const v1::PolicyCondition& from : message.match()) {
    Condition condition;
    condition.key = from.key();
    for (const v1::PolicyPattern& pattern : from.any_of()) {
      condition.any_of.push_back(pattern.wildcard()
                                     ? Pattern::Parse(pattern.text())
                                     : Pattern::Exact(pattern.text()));
    }
    rule.match.push_back(std::move(condition));
  }
}

void ReadKey(const v1::PolicyRule& message, Rule& rule) {
  for (const v1::PolicyKeyPart& from : message.key()) {
    KeyPart part;
    for (const v1::PolicyKeySource& source : from.alternatives()) {
      KeySource alternative;
      alternative.entry = source.entry();
      if (source.has_prefix()) {
        alternative.prefix =
            AddressPrefix{.v4 = static_cast<int>(source.prefix().v4()),
                          .v6 = static_cast<int>(source.prefix().v6())};
      }
      part.alternatives.push_back(std::move(alternative));
    }
    rule.key.push_back(std::move(part));
  }
}

const Algorithm* AlgorithmOf(absl::string_view name) {
  const Algorithm* algorithm = FindAlgorithm(name);
  return algorithm != nullptr ? algorithm : FindAlgorithm("token_bucket");
}

// What a rule takes, and of which limits.
absl::Status ReadTaking(const v1::PolicyRule& message, Rule& rule) {
  rule.algorithm = message.on_outage() == v1::OUTAGE_REFUSE
                       ? &OutageRefusal()
                       : AlgorithmOf(message.algorithm());
  rule.cost = message.cost();
  absl::StatusOr<std::vector<Limit>> limits = ToLimits(message.limits());
  if (!limits.ok()) return limits.status();
  rule.limits = *std::move(limits);
  if (!message.has_tier()) return absl::OkStatus();
  Tier tier;
  tier.entry = message.tier().entry();
  tier.fallback = message.tier().fallback();
  for (const v1::PolicyTierLimits& from : message.tier().limits()) {
    limits = ToLimits(from.limits());
    if (!limits.ok()) return limits.status();
    tier.limits.emplace_back(from.name(), *std::move(limits));
  }
  rule.tier = std::move(tier);
  return absl::OkStatus();
}

absl::Status ReadPolicies(const v1::PolicyRule& message, Rule& rule) {
  if (message.overflow_percent() > 0) {
    rule.overflow_percent = message.overflow_percent();
  }
  if (message.has_reserve()) {
    Reserve& reserve = rule.reserve.emplace();
    reserve.entry = message.reserve().entry();
    reserve.fallback = message.reserve().fallback();
    for (const v1::PolicyReserveShare& share : message.reserve().shares()) {
      reserve.shares.emplace_back(share.name(), share.percent());
    }
  }
  if (!message.has_penalty()) return absl::OkStatus();
  absl::StatusOr<Limit> after = ToLimit(message.penalty().after());
  if (after.ok()) {
    after = after->WithHold(ToDuration(message.penalty().block()));
  }
  if (!after.ok()) return after.status();
  rule.penalty = PenaltyRule{*after};
  return absl::OkStatus();
}

absl::Status ReadNodeLimit(const v1::PolicyNodeLimit& message, Rule& rule) {
  NodeLimit& limit = rule.node->limits.emplace_back();
  limit.unlimited = message.unlimited();
  limit.name = message.name();
  limit.replaces.assign(message.replaces().begin(), message.replaces().end());
  limit.unit = static_cast<LimitUnit>(message.unit());
  limit.unit_multiplier = message.unit_multiplier();
  if (!limit.unlimited && !PeriodOf(limit.unit).has_value()) {
    limit.unit = LimitUnit::kSecond;
  }
  if (!message.has_limit()) return absl::OkStatus();
  const absl::StatusOr<Limit> made = ToLimit(message.limit());
  if (!made.ok()) return made.status();
  limit.requests_per_unit = made->tokens();
  rule.limits.push_back(*made);
  return absl::OkStatus();
}

absl::Status InRule(const Rule& rule, const absl::Status& status) {
  return absl::InvalidArgumentError(
      absl::StrCat("rule \"", rule.name, "\": ", status.message()));
}

}  // namespace

absl::StatusOr<Rule> ToRule(const v1::PolicyRule& message) {
  Rule rule;
  rule.domain = message.domain();
  rule.name = message.name();
  rule.algorithm = FindAlgorithm("token_bucket");
  if (message.on_outage() == v1::OUTAGE_ALLOW) {
    // The rest of it is not there; its name is, for allow-lists that skip it.
    rule.mode = Mode::kOff;
    rule.limits = {Limit()};
    return rule;
  }
  ReadMatch(message, rule);
  ReadKey(message, rule);
  rule.enforce_percent = message.enforce_percent();
  rule.unlimited = message.unlimited();
  rule.skips.assign(message.skips().begin(), message.skips().end());
  if (rule.unlimited) return rule;
  absl::Status status = ReadTaking(message, rule);
  if (status.ok()) status = ReadPolicies(message, rule);
  if (!status.ok()) return InRule(rule, status);
  return rule;
}

absl::StatusOr<Rule> ToRule(const v1::PolicyNode& message) {
  Rule rule;
  rule.domain = message.domain();
  rule.name = message.name();
  rule.algorithm = AlgorithmOf(message.algorithm());
  if (message.shadow()) rule.mode = Mode::kShadow;
  NodeRule& node = rule.node.emplace();
  node.quota_mode = message.quota_mode();
  for (const v1::PolicyNodeStep& step : message.path()) {
    node.path.push_back({step.key(), step.value(), step.share()});
  }
  for (const v1::PolicyNodeLimit& limit : message.limits()) {
    const absl::Status status = ReadNodeLimit(limit, rule);
    if (!status.ok()) return InRule(rule, status);
  }
  return rule;
}

template <typename Messages>
absl::Status PolicyReader::Add(const Messages& messages) {
  for (const auto& message : messages) {
    absl::StatusOr<Rule> rule = ToRule(message);
    if (!rule.ok()) return rule.status();
    rules_.push_back(*std::move(rule));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<PolicyUpdate>> PolicyReader::Read(
    const v1::Policy& message) {
  PolicyUpdate update;
  update.hash = message.hash();
  update.clients = message.clients();
  // Between two parts this would say nothing of the rules that it is beside.
  if (message.parts() == 0) return update;
  if (message.part() == 0) {
    rules_.clear();
    next_part_ = 0;
  }
  if (message.part() != next_part_ || message.part() >= message.parts()) {
    return absl::InvalidArgumentError(absl::StrCat("part: got ", message.part(),
                                                   " of ", message.parts(),
                                                   ", want ", next_part_));
  }
  absl::Status status = Add(message.rules());
  if (status.ok()) status = Add(message.nodes());
  if (!status.ok()) return status;
  std::optional<PolicyUpdate> whole;
  if (++next_part_ == message.parts()) {
    whole = std::move(update);
    whole->rules = std::exchange(rules_, {});
  }
  return whole;
}

}  // namespace tollgate::client
