#include "client/wire.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"

namespace tollgate::client {
namespace {

absl::Duration ToDuration(const google::protobuf::Duration& message) {
  return absl::Seconds(message.seconds()) + absl::Nanoseconds(message.nanos());
}

void SetDuration(absl::Duration duration, google::protobuf::Duration* message) {
  message->set_seconds(
      absl::IDivDuration(duration, absl::Seconds(1), &duration));
  message->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(duration)));
}

// From 1970 on, as the service's clock is.
void SetTime(absl::Time time, google::protobuf::Timestamp* message) {
  absl::Duration since = time - absl::UnixEpoch();
  message->set_seconds(absl::IDivDuration(since, absl::Seconds(1), &since));
  message->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(since)));
}

absl::StatusOr<Outcome> ToOutcome(v1::Outcome outcome) {
  switch (outcome) {
    case v1::ALLOWED:
      return Outcome::kAllowed;
    case v1::REFUSED:
      return Outcome::kRefused;
    case v1::IMPOSSIBLE:
      return Outcome::kImpossible;
    default:
      return absl::UnknownError(
          absl::StrCat("outcome: got ", static_cast<int>(outcome),
                       ", want ALLOWED, REFUSED or IMPOSSIBLE"));
  }
}

v1::Outcome ToWire(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAllowed:
      return v1::ALLOWED;
    case Outcome::kRefused:
      return v1::REFUSED;
    case Outcome::kImpossible:
      return v1::IMPOSSIBLE;
  }
  return v1::OUTCOME_UNSPECIFIED;
}

// The service says which one of the batch was wrong; who asked for one alone
// need not know of the others.
absl::Status ToStatus(const v1::BatchError& error, size_t index) {
  absl::string_view message = error.message();
  absl::ConsumePrefix(&message, absl::StrCat("requests[", index, "]."));
  return {static_cast<absl::StatusCode>(error.code()), message};
}

// `message` must be empty.
template <typename Message>
void Fill(const Request& request, uint32_t cost, Message& message) {
  message.set_domain(request.domain);
  message.set_cost(cost);
  for (const Descriptor& from : request.descriptors) {
    v1::Descriptor* to = message.add_descriptors();
    for (const Entry& entry : from) {
      v1::Entry* added = to->add_entries();
      added->set_key(entry.key);
      added->set_value(entry.value);
    }
  }
}

}  // namespace

void FillRequest(const Request& request, uint32_t cost,
                 v1::ShouldAllowRequest& message) {
  message.Clear();
  Fill(request, cost, message);
}

void FillBatch(absl::Span<const Question> questions,
               v1::ShouldAllowBatchRequest& message) {
  message.Clear();
  for (const Question& question : questions) {
    Fill(question.request, question.cost, *message.add_requests());
  }
}

void FillRefund(const Request& request, uint32_t cost, absl::Time decided_at,
                absl::string_view overflow, v1::RefundRequest& message) {
  message.Clear();
  Fill(request, cost, message);
  SetTime(decided_at, message.mutable_decided_at());
  message.set_overflow(std::string(overflow));
}

absl::StatusOr<Decision> ToDecision(const v1::ShouldAllowResponse& message) {
  Decision decision;
  const absl::StatusOr<Outcome> outcome = ToOutcome(message.outcome());
  if (!outcome.ok()) return outcome.status();
  decision.outcome = *outcome;
  decision.allowed = *outcome == Outcome::kAllowed;
  decision.retry_after = ToDuration(message.retry_after());
  decision.stands_for = ToDuration(message.stands_for());
  decision.delay = ToDuration(message.delay());
  decision.ticket = message.ticket();
  decision.overflow = message.overflow();
  if (message.has_decided_at()) {
    decision.decided_at = absl::UnixEpoch() +
                          absl::Seconds(message.decided_at().seconds()) +
                          absl::Nanoseconds(message.decided_at().nanos());
  }
  decision.statuses.reserve(static_cast<size_t>(message.statuses_size()));
  for (const v1::RuleStatus& from : message.statuses()) {
    RuleStatus to;
    const absl::StatusOr<Outcome> rule_outcome = ToOutcome(from.outcome());
    if (!rule_outcome.ok()) return rule_outcome.status();
    to.outcome = *rule_outcome;
    to.rule = from.rule();
    to.tokens = from.limit().tokens();
    to.period = ToDuration(from.limit().period());
    to.burst = from.limit().burst();
    to.remaining = from.remaining();
    to.reset_after = ToDuration(from.reset_after());
    to.retry_after = ToDuration(from.retry_after());
    to.shadow = from.shadow();
    to.delay = ToDuration(from.delay());
    to.unlimited = from.unlimited();
    to.overflow = from.overflow();
    to.outage = from.outage();
    decision.statuses.push_back(std::move(to));
  }
  return decision;
}

absl::Status TakeAnswers(const v1::ShouldAllowBatchResponse& message,
                         size_t count, std::vector<Answer>& answers) {
  const auto got = static_cast<size_t>(message.answers_size());
  if (got != count) {
    return absl::InternalError(
        absl::StrCat("answers: got ", got, ", want ", count));
  }
  answers.clear();
  answers.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const v1::BatchAnswer& from = message.answers(static_cast<int>(i));
    if (!from.has_decision()) {
      answers[i].status = ToStatus(from.error(), i);
      if (answers[i].status.ok()) {
        answers[i].status = absl::InternalError("answer: got none");
      }
      continue;
    }
    absl::StatusOr<Decision> decision = ToDecision(from.decision());
    answers[i].status = decision.status();
    if (decision.ok()) answers[i].decision = *std::move(decision);
  }
  return absl::OkStatus();
}

v1::ShouldAllowResponse ToMessage(const Decision& decision) {
  v1::ShouldAllowResponse message;
  message.set_outcome(ToWire(decision.outcome));
  SetDuration(decision.retry_after, message.mutable_retry_after());
  SetDuration(decision.stands_for, message.mutable_stands_for());
  SetDuration(decision.delay, message.mutable_delay());
  message.set_ticket(decision.ticket);
  message.set_overflow(decision.overflow);
  if (decision.decided_at != absl::InfinitePast()) {
    SetTime(decision.decided_at, message.mutable_decided_at());
  }
  for (const RuleStatus& from : decision.statuses) {
    v1::RuleStatus* to = message.add_statuses();
    to->set_rule(from.rule);
    to->mutable_limit()->set_tokens(from.tokens);
    SetDuration(from.period, to->mutable_limit()->mutable_period());
    to->mutable_limit()->set_burst(from.burst);
    to->set_remaining(from.remaining);
    SetDuration(from.reset_after, to->mutable_reset_after());
    SetDuration(from.retry_after, to->mutable_retry_after());
    to->set_outcome(ToWire(from.outcome));
    to->set_shadow(from.shadow);
    SetDuration(from.delay, to->mutable_delay());
    to->set_unlimited(from.unlimited);
    to->set_overflow(from.overflow);
    to->set_outage(from.outage);
  }
  return message;
}

}  // namespace tollgate::client
