#include "client/wire.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tollgate::client {
namespace {

using ::testing::HasSubstr;

TEST(Wire, WritesTheRequestAtTheCostThatIsAskedFor) {
  const Request request{
      "shop", {{{"user", "ana"}, {"ip", ""}}, {{"plan", "paid"}}}, 3};
  v1::ShouldAllowRequest message;
  FillRequest({"other", {{{"a", "b"}}, {}, {}}, 9}, 9, message);
  FillRequest(request, 0, message);  // leaves nothing of the one before
  EXPECT_EQ(message.domain(), "shop");
  EXPECT_TRUE(message.has_cost());
  EXPECT_EQ(message.cost(), 0);
  ASSERT_EQ(message.descriptors_size(), 2);
  ASSERT_EQ(message.descriptors(0).entries_size(), 2);
  EXPECT_EQ(message.descriptors(0).entries(0).key(), "user");
  EXPECT_EQ(message.descriptors(0).entries(0).value(), "ana");
  EXPECT_EQ(message.descriptors(0).entries(1).value(), "");
  EXPECT_EQ(message.descriptors(1).entries(0).key(), "plan");
}

Decision Full() {
  Decision decision;
  decision.allowed = false;
  decision.outcome = Outcome::kRefused;
  decision.retry_after = absl::Nanoseconds(1'500'000'001);
  decision.stands_for = absl::Milliseconds(1400);
  decision.delay = absl::Milliseconds(250);
  decision.ticket = std::string("\0\xff", 2);
  decision.overflow = std::string("\xfe\0", 2);
  decision.decided_at = absl::FromUnixNanos(1'700'000'000'000'000'001);
  decision.statuses.resize(2);
  RuleStatus& first = decision.statuses[0];
  first.rule = "per-user";
  first.tokens = 10;
  first.period = absl::Seconds(1);
  first.burst = 20;
  first.remaining = 4;
  first.reset_after = absl::Milliseconds(1600);
  first.shadow = true;
  first.delay = absl::Nanoseconds(7);
  RuleStatus& second = decision.statuses[1];
  second.rule = "site";
  second.unlimited = true;
  second.overflow = true;
  second.outage = true;
  second.outcome = Outcome::kImpossible;
  second.retry_after = absl::Hours(24 * 3650);
  return decision;
}

TEST(Wire, ADecisionSurvivesTheWayThereAndBack) {
  const absl::StatusOr<Decision> back = ToDecision(ToMessage(Full()));
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(back->allowed, false);
  EXPECT_EQ(back->outcome, Outcome::kRefused);
  EXPECT_EQ(back->retry_after, absl::Nanoseconds(1'500'000'001));
  EXPECT_EQ(back->stands_for, absl::Milliseconds(1400));
  EXPECT_EQ(back->delay, absl::Milliseconds(250));
  EXPECT_EQ(back->ticket, std::string("\0\xff", 2));
  EXPECT_EQ(back->overflow, std::string("\xfe\0", 2));
  EXPECT_EQ(back->decided_at, absl::FromUnixNanos(1'700'000'000'000'000'001));
  ASSERT_EQ(back->statuses.size(), 2);
  EXPECT_EQ(back->statuses[0].delay, absl::Nanoseconds(7));
  EXPECT_FALSE(back->statuses[0].unlimited);
  EXPECT_TRUE(back->statuses[1].unlimited);
  EXPECT_FALSE(back->statuses[0].overflow);
  EXPECT_TRUE(back->statuses[1].overflow);
  EXPECT_FALSE(back->statuses[0].outage);
  EXPECT_TRUE(back->statuses[1].outage);
  EXPECT_EQ(back->statuses[0].rule, "per-user");
  EXPECT_EQ(back->statuses[0].tokens, 10);
  EXPECT_EQ(back->statuses[0].period, absl::Seconds(1));
  EXPECT_EQ(back->statuses[0].burst, 20);
  EXPECT_EQ(back->statuses[0].remaining, 4);
  EXPECT_EQ(back->statuses[0].reset_after, absl::Milliseconds(1600));
  EXPECT_EQ(back->statuses[0].outcome, Outcome::kAllowed);
  EXPECT_TRUE(back->statuses[0].shadow);
  EXPECT_EQ(back->statuses[1].outcome, Outcome::kImpossible);
  EXPECT_EQ(back->statuses[1].retry_after, absl::Hours(24 * 3650));
  EXPECT_FALSE(back->statuses[1].shadow);
}

TEST(Wire, WithoutATimeTheServiceDidNotDecide) {
  v1::ShouldAllowResponse message;
  message.set_outcome(v1::ALLOWED);
  const absl::StatusOr<Decision> decision = ToDecision(message);
  ASSERT_THAT(decision, IsOk());
  EXPECT_EQ(decision->decided_at, absl::InfinitePast());
  EXPECT_FALSE(ToMessage(*decision).has_decided_at());
}

TEST(Wire, AnOutcomeOfALaterServiceIsAnErrorNotADecision) {
  v1::ShouldAllowResponse message;
  EXPECT_THAT(ToDecision(message), StatusIs(absl::StatusCode::kUnknown,
                                            HasSubstr("outcome: got 0")));
  message.set_outcome(static_cast<v1::Outcome>(9));
  EXPECT_THAT(ToDecision(message), StatusIs(absl::StatusCode::kUnknown,
                                            HasSubstr("outcome: got 9")));
  message.set_outcome(v1::ALLOWED);
  message.add_statuses();
  EXPECT_THAT(ToDecision(message), StatusIs(absl::StatusCode::kUnknown,
                                            HasSubstr("outcome: got 0")));
}

TEST(Wire, ABatchHoldsEachQuestionWithItsOwnCost) {
  v1::ShouldAllowBatchRequest message;
  message.add_requests()->set_domain("of the batch before");
  const std::vector<Question> questions = {{{"a", {{{"k", "1"}}}, 9}, 0},
                                           {{"b", {{{"k", "2"}}}, 9}, 7}};
  FillBatch(questions, message);
  ASSERT_EQ(message.requests_size(), 2);
  EXPECT_EQ(message.requests(0).domain(), "a");
  EXPECT_EQ(message.requests(0).cost(), 0);
  EXPECT_EQ(message.requests(1).descriptors(0).entries(0).value(), "2");
  EXPECT_EQ(message.requests(1).cost(), 7);
}

TEST(Wire, EachAnswerOfABatchIsItsOwn) {
  v1::ShouldAllowBatchResponse message;
  message.add_answers()->mutable_decision()->set_outcome(v1::REFUSED);
  v1::BatchError* error = message.add_answers()->mutable_error();
  error->set_code(3);
  error->set_message("requests[1].domain: empty");
  message.add_answers()->mutable_decision()->set_outcome(v1::ALLOWED);
  message.add_answers()->mutable_decision();
  message.add_answers();
  std::vector<Answer> answers;
  EXPECT_THAT(TakeAnswers(message, 5, answers), IsOk());
  ASSERT_EQ(answers.size(), 5);
  EXPECT_EQ(answers[0].decision.outcome, Outcome::kRefused);
  EXPECT_THAT(answers[1].status,
              StatusIs(absl::StatusCode::kInvalidArgument, "domain: empty"));
  EXPECT_TRUE(answers[2].decision.allowed);
  EXPECT_THAT(answers[2].status, IsOk());
  EXPECT_THAT(answers[3].status,
              StatusIs(absl::StatusCode::kUnknown, HasSubstr("outcome")));
  EXPECT_THAT(answers[4].status,
              StatusIs(absl::StatusCode::kInternal, HasSubstr("none")));
}

TEST(Wire, ABatchWithAnotherNumberOfAnswersSaysNothing) {
  v1::ShouldAllowBatchResponse message;
  message.add_answers()->mutable_decision()->set_outcome(v1::ALLOWED);
  std::vector<Answer> answers;
  EXPECT_THAT(TakeAnswers(message, 2, answers),
              StatusIs(absl::StatusCode::kInternal, "answers: got 1, want 2"));
  EXPECT_THAT(TakeAnswers({}, 1, answers),
              StatusIs(absl::StatusCode::kInternal, "answers: got 0, want 1"));
}

}  // namespace
}  // namespace tollgate::client
