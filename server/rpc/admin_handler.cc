#include "server/rpc/admin_handler.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/limiter/decision.h"
#include "server/limiter/explain.h"
#include "server/limiter/request.h"
#include "server/limiter/rule_text.h"
#include "server/rpc/rule_text.h"

namespace tollgate {
namespace {

// An empty text is no choice and always good.
absl::Status CheckChoice(const std::string& field, const std::string& text,
                         size_t max) {
  if (text.size() > max) {
    return absl::InvalidArgumentError(absl::StrCat(
        field, ": got ", text.size(), " bytes, want at most ", max));
  }
  if (IsValidUtf8(text)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, ": not valid UTF-8"));
}

void ToProto(const RuleExplanation& from, v1::RuleExplanation& out) {
  out.set_rule(from.rule->name);
  out.set_applies(from.applies);
  out.set_reason(from.reason);
  out.set_mode(from.applies && from.shadow ? "shadow" : ModeText(*from.rule));
  if (!from.applies) return;
  out.set_descriptor_index(static_cast<uint32_t>(from.descriptor));
  out.set_key(from.key);
  out.set_tier(from.tier);
  out.set_cost(from.cost);
  uint64_t most = 0;
  for (const Limit& limit : from.limits) {
    out.add_limits(LimitText(*from.rule, limit));
    most = std::max<uint64_t>(most, limit.burst());
  }
  out.set_reserved((most * from.reserved_percent + 99) / 100);
}

}  // namespace

absl::Status AdminHandler::Invalid(absl::Status status) {
  observer_.OnInvalid();
  return status;
}

absl::Status AdminHandler::Check(const Request& request,
                                 const std::string& rule) {
  absl::Status status = ValidateRequest(request);
  if (status.ok()) status = CheckChoice("rule", rule, kMaxNameBytes);
  return status.ok() ? status : Invalid(std::move(status));
}

absl::Status AdminHandler::GetRules(const v1::GetRulesRequest& request, int64_t,
                                    v1::GetRulesResponse& response) {
  absl::Status status =
      CheckChoice("domain", request.domain(), kMaxDomainBytes);
  if (!status.ok()) return Invalid(std::move(status));
  const RulesInForce in_force = rules_in_force_();
  response.set_hash(in_force.hash);
  for (const auto& domain : in_force.rules->domains()) {
    if (!request.domain().empty() && domain->name != request.domain()) continue;
    for (const BoundRule& bound : domain->rules) {
      DescribeRule(bound.rule, *response.add_rules());
    }
  }
  return absl::OkStatus();
}

absl::Status AdminHandler::Explain(const v1::ExplainRequest& request,
                                   int64_t deadline_ns,
                                   v1::ExplainResponse& response) {
  const Request& view =
      view_.Show(request.domain(), request.descriptors(),
                 request.has_cost() ? request.cost() : 1, deadline_ns);
  absl::Status status = ValidateRequest(view);
  if (!status.ok()) return Invalid(std::move(status));
  const std::shared_ptr<const RuleSet> rules = limiter_.rules();
  for (const RuleExplanation& explanation : tollgate::Explain(*rules, view)) {
    ToProto(explanation, *response.add_rules());
  }
  return absl::OkStatus();
}

absl::Status AdminHandler::PeekBucket(const v1::PeekBucketRequest& request,
                                      int64_t deadline_ns,
                                      v1::PeekBucketResponse& response) {
  const Request& view = view_.Show(request.domain(), request.descriptors(),
                                   /*cost=*/0, deadline_ns);
  absl::Status status = Check(view, request.rule());
  if (!status.ok()) return status;
  const Decision decision = limiter_.Decide(view);
  if (decision.outcome == Outcome::kExpired) {
    observer_.OnExpired();
    return absl::DeadlineExceededError(
        "the deadline had passed before the buckets were looked at");
  }
  for (const RuleStatus& bucket : decision.statuses) {
    if (request.rule().empty() || bucket.rule->name == request.rule()) {
      tollgate::ToProto(bucket, *response.add_buckets());
    }
  }
  return absl::OkStatus();
}

absl::Status AdminHandler::ResetBucket(const v1::ResetBucketRequest& request,
                                       int64_t deadline_ns,
                                       v1::ResetBucketResponse& response) {
  const Request& view = view_.Show(request.domain(), request.descriptors(),
                                   /*cost=*/1, deadline_ns);
  absl::Status status = Check(view, request.rule());
  if (!status.ok()) return status;
  response.set_count(limiter_.Reset(view, request.rule()));
  return absl::OkStatus();
}

}  // namespace tollgate
