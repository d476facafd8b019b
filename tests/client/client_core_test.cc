#include "client/client_core.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/fake_transport.h"
#include "tests/support/status_matchers.h"

namespace tollgate::client {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Decision Refused(absl::Duration retry_after) {
  Decision decision;
  decision.allowed = false;
  decision.outcome = Outcome::kRefused;
  decision.retry_after = retry_after;
  decision.statuses.resize(1);
  decision.statuses[0].rule = "per-user";
  return decision;
}

// Fails until the breaker is open.
void OpenBreaker(FakeClient& fake) {
  fake.AnswerAll(absl::UnavailableError("gone"));
  for (int i = 0; i < 3; ++i) fake.core->ShouldAllow(AnaSearches());
  ASSERT_TRUE(fake.core->stats().breaker_open);
}

TEST(ClientCore, PassesTheServicesAnswerOn) {
  FakeClient fake;
  fake.AnswerAll(absl::OkStatus(), Refused(absl::Milliseconds(7)));
  const Decision decision = fake.core->ShouldAllow(AnaSearches());
  EXPECT_FALSE(decision.allowed);
  EXPECT_EQ(decision.outcome, Outcome::kRefused);
  EXPECT_EQ(decision.retry_after, absl::Milliseconds(7));
  EXPECT_EQ(decision.statuses[0].rule, "per-user");
  EXPECT_EQ(decision.source, Source::kService);
  EXPECT_THAT(decision.error, IsOk());

  fake.AnswerAll(absl::OkStatus());
  EXPECT_TRUE(fake.core->ShouldAllow(AnaSearches()).allowed);
  EXPECT_EQ(fake.core->stats().service, 2);
}

TEST(ClientCore, SendsTheRequestItsCostAndTheTimeout) {
  ClientOptions options;
  options.timeout = absl::Milliseconds(35);
  FakeClient fake(options);
  std::optional<Wire::Sent> seen;
  fake.wire.answer = [&](const Wire::Sent& sent) {
    seen = sent;
    sent.handler->OnReply(absl::OkStatus(), {});
  };
  Request request = AnaSearches();
  request.cost = 5;
  fake.core->ShouldAllow(request);
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->request.domain, "shop");
  EXPECT_EQ(seen->cost, 5);
  EXPECT_EQ(seen->timeout, absl::Milliseconds(35));
}

TEST(ClientCore, AnswersFromTheBackstopAtTheTimeoutAndNotLater) {
  FakeClient fake;
  const Decision decision = fake.core->ShouldAllow(AnaSearches());
  EXPECT_EQ(fake.clock->NowNs(), kStartNs + 20 * kMs);
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.source, Source::kBackstop);
  EXPECT_THAT(decision.error,
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("time")));
  EXPECT_EQ(fake.core->stats().timeouts, 1);
}

TEST(ClientCore, IgnoresAnAnswerThatComesTooLate) {
  FakeClient fake;
  for (int i = 0; i < 3; ++i) fake.core->ShouldAllow(AnaSearches());
  ASSERT_TRUE(fake.core->stats().breaker_open);
  EXPECT_EQ(fake.core->stats().in_flight, 3);
  for (int i = 0; i < 3; ++i) {
    fake.wire.AnswerOldest(absl::OkStatus(), Refused(absl::Seconds(1)));
  }
  const ClientStats stats = fake.core->stats();
  EXPECT_TRUE(stats.breaker_open);
  EXPECT_EQ(stats.in_flight, 0);
  EXPECT_EQ(stats.service, 0);
  EXPECT_EQ(stats.timeouts, 3);
}

TEST(ClientCore, CountsATimeoutOnceThoughTheTransportReportsItToo) {
  FakeClient fake;
  fake.core->ShouldAllow(AnaSearches());
  fake.wire.AnswerOldest(absl::DeadlineExceededError("late"));
  fake.core->ShouldAllow(AnaSearches());
  fake.wire.AnswerOldest(absl::DeadlineExceededError("late"));
  EXPECT_FALSE(fake.core->stats().breaker_open);
  EXPECT_EQ(fake.core->stats().timeouts, 2);
}

TEST(ClientCore, TheBackstopAllowsAThousandAndThenRefusesWithTheExactWait) {
  FakeClient fake;
  fake.AnswerAll(absl::UnavailableError("gone"));
  int allowed = 0;
  for (int i = 0; i < 1000; ++i) {
    if (fake.core->ShouldAllow(AnaSearches()).allowed) ++allowed;
  }
  EXPECT_EQ(allowed, 1000);
  const Decision refused = fake.core->ShouldAllow(AnaSearches());
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_EQ(refused.source, Source::kBackstop);
  EXPECT_EQ(refused.retry_after, absl::Milliseconds(1));
}

TEST(ClientCore, SendsNothingWhileTheBreakerIsOpenButOneProbeAtATime) {
  FakeClient fake;
  OpenBreaker(fake);
  fake.AnswerNothing();
  fake.clock->Advance(49 * kMs);  // before any pause, however shortened, ends
  for (int i = 0; i < 100; ++i) {
    const Decision decision = fake.core->ShouldAllow(AnaSearches());
    EXPECT_EQ(decision.source, Source::kBackstop);
    EXPECT_THAT(decision.error,
                StatusIs(absl::StatusCode::kUnavailable, HasSubstr("pauses")));
  }
  EXPECT_EQ(fake.sends(), 3);
  fake.clock->Advance(51 * kMs);  // after every pause ends
  for (int i = 0; i < 100; ++i) fake.core->ShouldAllow(AnaSearches());
  EXPECT_EQ(fake.sends(), 4);
  EXPECT_EQ(fake.clock->NowNs(), kStartNs + 100 * kMs) << "somebody waited";
  EXPECT_EQ(fake.core->stats().probes, 1);
}

TEST(ClientCore, AProbeTakesNothing) {
  FakeClient fake;
  OpenBreaker(fake);
  fake.AnswerNothing();
  fake.clock->Advance(100 * kMs);
  Request request = AnaSearches();
  request.cost = 7;
  fake.core->ShouldAllow(request);
  const Wire::Sent probe = fake.wire.Pop();
  EXPECT_EQ(probe.cost, 0);
  EXPECT_EQ(probe.request.descriptors[0][0].value, "ana");
  probe.handler->OnReply(absl::OkStatus(), {});
}

TEST(ClientCore, UsesTheServiceAgainOnceAProbeWasAnswered) {
  FakeClient fake;
  OpenBreaker(fake);
  fake.clock->Advance(100 * kMs);
  fake.AnswerAll(absl::OkStatus(), Refused(absl::Seconds(9)));
  EXPECT_EQ(fake.core->ShouldAllow(AnaSearches()).source, Source::kBackstop);
  EXPECT_FALSE(fake.core->stats().breaker_open);
  const Decision decision = fake.core->ShouldAllow(AnaSearches());
  EXPECT_EQ(decision.source, Source::kService);
  EXPECT_EQ(decision.retry_after, absl::Seconds(9));
}

TEST(ClientCore, AsksAtLeastEveryHalfSecondHoweverLongTheOutage) {
  FakeClient fake;
  OpenBreaker(fake);
  uint64_t sends = fake.sends();
  int64_t last_ns = fake.clock->NowNs();
  for (int i = 0; i < 60'000; ++i) {
    fake.clock->Advance(kMs);
    fake.core->ShouldAllow(AnaSearches());
    if (fake.sends() == sends) continue;
    EXPECT_LE(fake.clock->NowNs() - last_ns, 500 * kMs);
    sends = fake.sends();
    last_ns = fake.clock->NowNs();
  }
  EXPECT_LE(fake.clock->NowNs() - last_ns, 500 * kMs);
}

TEST(ClientCore, AnErrorThatIsNoOutageNeverOpensTheBreaker) {
  for (const absl::StatusCode code :
       {absl::StatusCode::kInvalidArgument, absl::StatusCode::kInternal,
        absl::StatusCode::kResourceExhausted, absl::StatusCode::kUnknown,
        absl::StatusCode::kPermissionDenied}) {
    FakeClient fake;
    fake.AnswerAll(absl::Status(code, "no"));
    for (int i = 0; i < 10; ++i) {
      const Decision decision = fake.core->ShouldAllow(AnaSearches());
      EXPECT_TRUE(decision.allowed);
      EXPECT_THAT(decision.error, StatusIs(code, "no"));
    }
    EXPECT_FALSE(fake.core->stats().breaker_open);
    EXPECT_EQ(fake.sends(), 10);
  }
}

TEST(ClientCore, AllowsABadRequestOfTheCallersOwnAndSaysWhy) {
  FakeClient fake;
  fake.AnswerAll(absl::InvalidArgumentError("domain: too odd"));
  const Decision decision = fake.core->ShouldAllow(AnaSearches());
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.source, Source::kOutagePolicy);
  EXPECT_THAT(decision.statuses, IsEmpty());
  EXPECT_THAT(decision.error,
              StatusIs(absl::StatusCode::kInvalidArgument, "domain: too odd"));
  EXPECT_EQ(fake.core->stats().bad_requests, 1);
}

TEST(ClientCore, DoesNotSendARequestThatTheServiceWouldRefuseToRead) {
  FakeClient fake;
  fake.AnswerAll(absl::OkStatus());
  const std::pair<Request, std::string> cases[] = {
      {{"", {{{"user", "ana"}}}, 1}, "domain"},
      {{"shop", {}, 1}, "descriptors"},
      {{"shop", {{}}, 1}, "descriptors[0].entries"},
      {{"shop", {{{"user", "ana"}}, {{"", "x"}}}, 1},
       "descriptors[1].entries[0].key"},
      {{"shop", {{{"user", "\xff"}}}, 1}, "descriptors[0].entries[0].value"},
      {{"shop", {{{"user", std::string(4097, 'x')}}}, 1},
       "descriptors[0].entries[0].value"},
  };
  for (const auto& [request, field] : cases) {
    const Decision decision = fake.core->ShouldAllow(request);
    EXPECT_TRUE(decision.allowed);
    EXPECT_EQ(decision.source, Source::kOutagePolicy);
    EXPECT_THAT(decision.error,
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(field)));
  }
  EXPECT_EQ(fake.sends(), 0);
  const Request largest{"shop", {{{"user", std::string(4096, 'x')}}}, 1};
  EXPECT_EQ(fake.core->ShouldAllow(largest).source, Source::kService);
}

TEST(ClientCore, ThePolicyAllowNeverRefuses) {
  ClientOptions options;
  options.outage_policy = OutagePolicy::kAllow;
  options.backstop_tokens = 1;
  FakeClient fake(options);
  fake.AnswerAll(absl::UnavailableError("gone"));
  for (int i = 0; i < 10; ++i) {
    const Decision decision = fake.core->ShouldAllow(AnaSearches());
    EXPECT_TRUE(decision.allowed);
    EXPECT_EQ(decision.source, Source::kOutagePolicy);
    EXPECT_FALSE(decision.error.ok());
  }
}

TEST(ClientCore, ThePolicyRefuseRefusesAndSaysWhenToTryAgain) {
  ClientOptions options;
  options.outage_policy = OutagePolicy::kRefuse;
  FakeClient fake(options);
  fake.AnswerAll(absl::UnavailableError("gone"));
  const Decision decision = fake.core->ShouldAllow(AnaSearches());
  EXPECT_FALSE(decision.allowed);
  EXPECT_EQ(decision.outcome, Outcome::kRefused);
  EXPECT_EQ(decision.retry_after, absl::Milliseconds(500));
  EXPECT_EQ(decision.source, Source::kOutagePolicy);

  const Decision bad = fake.core->ShouldAllow({"", {}, 1});
  EXPECT_FALSE(bad.allowed);
  EXPECT_EQ(bad.outcome, Outcome::kImpossible);
}

TEST(ClientCore, AnswersLocallyBeyondTheCallsThatMayBeOut) {
  ClientOptions options;
  options.max_in_flight = 2;
  FakeClient fake(options);
  std::vector<Decision> answers;
  const auto keep = [&](Decision d) { answers.push_back(std::move(d)); };
  fake.core->ShouldAllowAsync(AnaSearches(), keep);
  fake.core->ShouldAllowAsync(AnaSearches(), keep);
  EXPECT_THAT(answers, IsEmpty());
  fake.core->ShouldAllowAsync(AnaSearches(), keep);
  ASSERT_EQ(answers.size(), 1);
  EXPECT_EQ(answers[0].source, Source::kBackstop);
  EXPECT_THAT(answers[0].error, StatusIs(absl::StatusCode::kResourceExhausted,
                                         HasSubstr("max_in_flight")));
  const Decision blocking = fake.core->ShouldAllow(AnaSearches());
  EXPECT_EQ(blocking.source, Source::kBackstop);
  EXPECT_EQ(fake.clock->NowNs(), kStartNs) << "somebody waited";
  EXPECT_EQ(fake.sends(), 2);
  EXPECT_EQ(fake.core->stats().overflows, 2);
  EXPECT_FALSE(fake.core->stats().breaker_open);

  fake.wire.AnswerOldest(absl::OkStatus());
  fake.core->ShouldAllowAsync(AnaSearches(), keep);
  EXPECT_EQ(fake.sends(), 3);
  fake.core.reset();
  EXPECT_EQ(answers.size(), 4);
}

TEST(ClientCore, CallsBackExactlyOnceWhateverHappens) {
  FakeClient fake;
  std::vector<int> calls(5, 0);
  std::vector<Source> sources(5);
  const auto note = [&](size_t i) {
    return [&, i](const Decision& d) {
      ++calls[i];
      sources[i] = d.source;
    };
  };
  fake.core->ShouldAllowAsync(AnaSearches(), note(0));
  fake.core->ShouldAllowAsync(AnaSearches(), note(1));
  fake.core->ShouldAllowAsync(AnaSearches(), note(2));
  fake.core->ShouldAllowAsync({"", {}, 1}, note(3));
  fake.core->ShouldAllowAsync(AnaSearches(), note(4));
  fake.wire.AnswerOldest(absl::OkStatus());
  fake.wire.AnswerOldest(absl::DeadlineExceededError("late"));
  fake.wire.AnswerOldest(absl::UnavailableError("gone"));
  fake.core.reset();  // the last is still out
  EXPECT_EQ(calls, std::vector<int>({1, 1, 1, 1, 1}));
  EXPECT_EQ(sources,
            std::vector<Source>({Source::kService, Source::kBackstop,
                                 Source::kBackstop, Source::kOutagePolicy,
                                 Source::kBackstop}));
}

TEST(ClientCore, ACallbackMayAskAgain) {
  ClientOptions options;
  options.max_in_flight = 1;
  FakeClient fake(options);
  int answered = 0;
  fake.core->ShouldAllowAsync(AnaSearches(), [&](const Decision&) {
    ++answered;
    fake.core->ShouldAllowAsync(AnaSearches(),
                                [&](const Decision&) { ++answered; });
  });
  fake.wire.AnswerOldest(absl::OkStatus());
  EXPECT_EQ(answered, 1);
  fake.wire.AnswerOldest(absl::OkStatus());
  EXPECT_EQ(answered, 2);
  EXPECT_EQ(fake.core->stats().service, 2);
}

}  // namespace
}  // namespace tollgate::client
