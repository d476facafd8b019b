#include "server/rpc/admin_handler.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/limiter/ask_store.h"
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

// 0 is the default.
absl::Status CheckMax(const char* field, uint32_t got, uint32_t max) {
  if (got <= max) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": got ", got, ", want 0 to ", max));
}

absl::Status CheckTopRefused(const v1::TopRefusedRequest& request) {
  absl::Status status =
      CheckChoice("domain", request.domain(), kMaxDomainBytes);
  if (status.ok()) status = CheckChoice("rule", request.rule(), kMaxNameBytes);
  if (status.ok()) status = CheckMax("max_keys", request.max_keys(), 1000);
  if (status.ok()) status = CheckMax("max_rules", request.max_rules(), 100);
  return status;
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
  out.set_overflow_percent(from.rule->overflow_percent);
  if (from.rule->node.has_value()) {
    for (std::string& text : LimitTexts(*from.rule->node)) {
      out.add_limits(std::move(text));
    }
    return;
  }
  uint64_t most = 0;
  for (const Limit& limit : from.limits) {
    out.add_limits(LimitText(*from.rule, limit));
    most = std::max<uint64_t>(most, limit.burst());
  }
  out.set_reserved((most * from.reserved_percent + 99) / 100);
}

void SetInstant(int64_t ns, google::protobuf::Timestamp& out) {
  constexpr int64_t kSecondNs = 1'000'000'000;
  out.set_seconds(ns / kSecondNs);
  out.set_nanos(static_cast<int32_t>(ns % kSecondNs));
}

void ToProto(const HeavyKey& from, uint64_t total, v1::RefusedKey& out) {
  out.set_key(from.text);
  out.set_count(from.count);
  out.set_error(from.error);
  out.set_share(static_cast<double>(from.count) / static_cast<double>(total));
  SetInstant(from.last_ns, *out.mutable_last_refused_at());
  out.set_shadow(from.shadow);
}

void FillReport(const RefusedKeysReport& from, v1::TopRefusedResponse& out) {
  for (const RefusedRule& rule : from.rules) {
    v1::RefusedRule& shown = *out.add_rules();
    shown.set_domain(rule.rule->domain->name);
    shown.set_rule(rule.rule->name);
    shown.set_total(rule.total);
    SetInstant(rule.since_ns, *shown.mutable_since());
    for (const HeavyKey& key : rule.keys) {
      ToProto(key, rule.total, *shown.add_keys());
    }
  }
  out.set_rules_left_out(static_cast<uint32_t>(from.rules_left_out));
  out.mutable_half_life()->set_seconds(
      absl::ToInt64Seconds(from.options.half_life));
  out.set_hashed(from.options.mode == RefusedKeysOptions::Mode::kHashed);
  out.set_missed(from.missed);
  SetInstant(from.at_ns, *out.mutable_as_of());
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

void AdminHandler::PeekBucket(const v1::PeekBucketRequest& request,
                              int64_t deadline_ns,
                              v1::PeekBucketResponse& response, Finish finish) {
  const Request& view = view_.Show(request.domain(), request.descriptors(),
                                   /*cost=*/0, deadline_ns);
  absl::Status status = Check(view, request.rule());
  if (!status.ok()) return finish(std::move(status));
  AskToDecide(store_, view,
              [this, &request, &response,
               finish = std::move(finish)](const Decision& decision) mutable {
                finish(Show(request, decision, response));
              });
}

absl::Status AdminHandler::Show(const v1::PeekBucketRequest& request,
                                const Decision& decision,
                                v1::PeekBucketResponse& response) {
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

void AdminHandler::ResetBucket(const v1::ResetBucketRequest& request,
                               int64_t deadline_ns,
                               v1::ResetBucketResponse& response,
                               Finish finish) {
  const Request& view = view_.Show(request.domain(), request.descriptors(),
                                   /*cost=*/1, deadline_ns);
  absl::Status status = Check(view, request.rule());
  if (!status.ok()) return finish(std::move(status));
  AskStore(
      store_, view,
      [&](const Request& asked, auto done) {
        store_.Reset(asked, request.rule(), std::move(done));
      },
      [&response, finish = std::move(finish)](size_t count) mutable {
        response.set_count(count);
        finish(absl::OkStatus());
      });
}

absl::Status AdminHandler::CheckInForce(const v1::TopRefusedRequest& request) {
  bool has_domain = request.domain().empty();
  bool has_rule = request.rule().empty();
  const RulesInForce in_force = rules_in_force_();
  for (const auto& domain : in_force.rules->domains()) {
    if (!request.domain().empty() && domain->name != request.domain()) continue;
    has_domain = true;
    for (const BoundRule& bound : domain->rules) {
      has_rule = has_rule || bound.rule.name == request.rule();
    }
  }
  if (!has_domain) {
    return absl::NotFoundError(
        absl::StrCat("domain: got \"", request.domain(),
                     "\", want one that a rule in force has"));
  }
  if (!has_rule) {
    return absl::NotFoundError(absl::StrCat("rule: got \"", request.rule(),
                                            "\", want one that is in force"));
  }
  return absl::OkStatus();
}

absl::Status AdminHandler::TopRefused(const v1::TopRefusedRequest& request,
                                      int64_t,
                                      v1::TopRefusedResponse& response) {
  constexpr uint32_t kDefault = 10;
  absl::Status status = CheckTopRefused(request);
  if (!status.ok()) return Invalid(std::move(status));
  RefusedKeysQuery query;
  query.domain = request.domain();
  query.rule = request.rule();
  query.max_keys = request.max_keys() == 0 ? kDefault : request.max_keys();
  query.max_rules = request.max_rules() == 0 ? kDefault : request.max_rules();
  const auto report = limiter_.ReportRefusedKeys(query);
  if (!report.has_value()) {
    return absl::FailedPreconditionError(
        "the server keeps no refused keys: got --top-refused=off, want on or "
        "hashed");
  }
  if (report->rules.empty()) {
    status = CheckInForce(request);
    if (!status.ok()) return status;
  }
  FillReport(*report, response);
  return absl::OkStatus();
}

}  // namespace tollgate
