#include "server/rpc/convert.h"

#include <cstddef>

#include "google/protobuf/duration.pb.h"

namespace tollgate {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

// `ns` must not be negative.
void SetDuration(int64_t ns, google::protobuf::Duration& duration) {
  duration.set_seconds(ns / kSecondNs);
  duration.set_nanos(static_cast<int32_t>(ns % kSecondNs));
}

v1::Outcome OutcomeToProto(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAllowed:
      return v1::ALLOWED;
    case Outcome::kRefused:
      return v1::REFUSED;
    case Outcome::kImpossible:
      return v1::IMPOSSIBLE;
    case Outcome::kExpired:
      break;
  }
  return v1::OUTCOME_UNSPECIFIED;
}

void StatusToProto(const RuleStatus& status, v1::RuleStatus& out) {
  out.set_rule(status.rule->name);
  v1::Limit& limit = *out.mutable_limit();
  limit.set_tokens(status.limit.tokens());
  limit.set_burst(status.limit.burst());
  SetDuration(status.limit.period_ns(), *limit.mutable_period());
  out.set_remaining(status.remaining);
  SetDuration(status.reset_after_ns, *out.mutable_reset_after());
  SetDuration(status.retry_after_ns, *out.mutable_retry_after());
  out.set_outcome(OutcomeToProto(status.outcome));
  out.set_shadow(status.shadow);
}

}  // namespace

const Request& RequestView::Show(const v1::ShouldAllowRequest& message,
                                 int64_t deadline_ns) {
  size_t entries = 0;
  for (const v1::Descriptor& descriptor : message.descriptors()) {
    entries += descriptor.entries_size();
  }
  entries_.clear();
  entries_.reserve(entries);  // so that no span below moves
  descriptors_.clear();
  for (const v1::Descriptor& descriptor : message.descriptors()) {
    const Entry* const first = entries_.data() + entries_.size();
    for (const v1::Entry& entry : descriptor.entries()) {
      entries_.push_back({entry.key(), entry.value()});
    }
    descriptors_.emplace_back(first, descriptor.entries_size());
  }
  request_.domain = message.domain();
  request_.descriptors = descriptors_;
  request_.cost = message.has_cost() ? message.cost() : 1;
  request_.deadline_ns = deadline_ns;
  return request_;
}

void ToProto(const Decision& decision, v1::ShouldAllowResponse& response) {
  response.set_outcome(OutcomeToProto(decision.outcome));
  if (decision.outcome == Outcome::kRefused) {
    SetDuration(decision.retry_after_ns, *response.mutable_retry_after());
  }
  response.mutable_statuses()->Reserve(
      static_cast<int>(decision.statuses.size()));
  for (const RuleStatus& status : decision.statuses) {
    StatusToProto(status, *response.add_statuses());
  }
}

}  // namespace tollgate
