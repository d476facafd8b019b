// What the client gives back: slots and tokens.
#include "client/client_core.h"
#include "gtest/gtest.h"
#include "tests/client/fake_transport.h"

namespace tollgate::client {
namespace {

TEST(ClientCore, ReleasesATicketWithoutWaiting) {
  FakeClient fake;
  fake.core->Release("ticket");
  ASSERT_EQ(fake.wire.out_count(), 1);
  EXPECT_EQ(fake.core->stats().gives_back, 1);
  const Wire::Sent sent = fake.wire.Pop();
  EXPECT_EQ(sent.ticket, "ticket");
  EXPECT_EQ(sent.timeout, absl::Seconds(1));
  sent.handler->OnReply(absl::OkStatus(), {});
  EXPECT_EQ(fake.core->stats().give_back_failures, 0);
  EXPECT_EQ(fake.clock->NowNs(), kStartNs);
}

TEST(ClientCore, RefundsWhatADecisionTook) {
  FakeClient fake;
  const absl::Time decided_at = absl::FromUnixNanos(kStartNs);
  fake.core->Refund(AnaSearches(), 7, decided_at, "shared");
  ASSERT_EQ(fake.wire.out_count(), 1);
  const Wire::Sent sent = fake.wire.Pop();
  EXPECT_EQ(sent.request.domain, "shop");
  EXPECT_EQ(sent.cost, 7);
  EXPECT_EQ(sent.decided_at, decided_at);
  EXPECT_EQ(sent.overflow, "shared");
  sent.handler->OnReply(absl::OkStatus(), {});
  EXPECT_EQ(fake.core->stats().gives_back, 1);
}

TEST(ClientCore, GivesNothingBackWhereNothingWasTaken) {
  FakeClient fake;
  fake.core->Release("");
  fake.core->Refund(AnaSearches(), 0, absl::FromUnixNanos(kStartNs), "");
  fake.core->Refund(AnaSearches(), 1, Decision().decided_at, "");
  EXPECT_EQ(fake.sends(), 0);
  EXPECT_EQ(fake.core->stats().gives_back, 0);
  EXPECT_EQ(fake.core->stats().give_back_failures, 0);
}

TEST(ClientCore, CountsWhatIsNotGivenBackAndKeepsTheBreakerClosed) {
  FakeClient fake;
  fake.AnswerAll(absl::UnavailableError("gone"));
  for (int i = 0; i < 9; ++i) fake.core->Release("ticket");
  EXPECT_EQ(fake.core->stats().gives_back, 9);
  EXPECT_EQ(fake.core->stats().give_back_failures, 9);
  EXPECT_FALSE(fake.core->stats().breaker_open);
}

TEST(ClientCore, SendsNothingBackWhileTheBreakerIsOpen) {
  FakeClient fake;
  fake.AnswerAll(absl::UnavailableError("gone"));
  for (int i = 0; i < 3; ++i) fake.core->ShouldAllow(AnaSearches());
  ASSERT_TRUE(fake.core->stats().breaker_open);
  const uint64_t sends = fake.sends();
  fake.core->Release("ticket");
  fake.core->Refund(AnaSearches(), 1, absl::FromUnixNanos(kStartNs), "");
  EXPECT_EQ(fake.sends(), sends);
  EXPECT_EQ(fake.core->stats().gives_back, 0);
  EXPECT_EQ(fake.core->stats().give_back_failures, 2);
}

TEST(ClientCore, BoundsHowManyReleasesAreOut) {
  ClientOptions options;
  options.max_in_flight = 2;
  FakeClient fake(options);
  for (int i = 0; i < 3; ++i) fake.core->Release("ticket");
  EXPECT_EQ(fake.wire.out_count(), 2);
  EXPECT_EQ(fake.core->stats().give_back_failures, 1);
  fake.wire.AnswerOldest(absl::OkStatus());
  fake.core->Release("ticket");
  EXPECT_EQ(fake.wire.out_count(), 2);
  EXPECT_EQ(fake.core->stats().gives_back, 3);
  EXPECT_EQ(fake.core->stats().give_back_failures, 1);
}

}  // namespace
}  // namespace tollgate::client
