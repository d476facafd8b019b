#include "server/rpc/rate_limiter_handler.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limiter/memory_store.h"
#include "server/rpc/admission.h"
#include "tests/rpc/fakes.h"
#include "tests/support/at_once.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;

struct Handled {
  FakeClock clock{kStartNs};
  Limiter limiter{clock};
  MemoryStore store{limiter};
  CountingObserver observer;
  RateLimiterHandler handler{store, clock, observer};

  explicit Handled(uint64_t tokens = 2) { SetPerUser(limiter, tokens); }

  absl::StatusOr<v1::ShouldAllowResponse> Ask(
      const v1::ShouldAllowRequest& request,
      int64_t deadline_ns = kNoDeadline) {
    v1::ShouldAllowResponse response;
    absl::Status status = AtOnce<absl::Status>([&](auto done) {
      handler.ShouldAllow(request, deadline_ns, response, done);
    });
    if (!status.ok()) return status;
    return response;
  }
  absl::StatusOr<v1::ShouldAllowBatchResponse> AskBatch(
      const v1::ShouldAllowBatchRequest& request,
      int64_t deadline_ns = kNoDeadline) {
    v1::ShouldAllowBatchResponse response;
    absl::Status status = AtOnce<absl::Status>([&](auto done) {
      handler.ShouldAllowBatch(
          request, deadline_ns, [](auto) { return absl::OkStatus(); }, response,
          done);
    });
    if (!status.ok()) return status;
    return response;
  }
  absl::Status Refund(const v1::RefundRequest& request,
                      v1::RefundResponse& response) {
    return AtOnce<absl::Status>([&](auto done) {
      handler.Refund(request, kNoDeadline, response, done);
    });
  }
};

struct Bound {
  const char* field;
  std::function<v1::ShouldAllowRequest(int)> make;
  int least;  // that is accepted
  int most;
};

const Bound kBounds[] = {
    {"domain",
     [](int n) {
       return MakeRequest(std::string(n, 'd'), {{"k", ""}});
     },
     1, 256},
    {"descriptors",
     [](int n) {
       v1::ShouldAllowRequest request;
       request.set_domain("shop");
       for (int i = 0; i < n; ++i) {
         request.add_descriptors()->add_entries()->set_key("k");
       }
       return request;
     },
     1, 64},
    {"descriptors[0].entries",
     [](int n) {
       v1::ShouldAllowRequest request;
       request.set_domain("shop");
       v1::Descriptor& descriptor = *request.add_descriptors();
       for (int i = 0; i < n; ++i) descriptor.add_entries()->set_key("k");
       return request;
     },
     1, 32},
    {"descriptors[0].entries[0].key",
     [](int n) {
       return MakeRequest("shop", {{std::string(n, 'k'), ""}});
     },
     1, 256},
    {"descriptors[0].entries[0].value",
     [](int n) {
       return MakeRequest("shop", {{"k", std::string(n, 'v')}});
     },
     0, 4096},
};

TEST(RateLimiterHandler, AcceptsBothEndsOfEachBoundAndNamesTheFieldBeyond) {
  Handled handled;
  for (const Bound& bound : kBounds) {
    EXPECT_TRUE(handled.Ask(bound.make(bound.least)).ok()) << bound.field;
    EXPECT_TRUE(handled.Ask(bound.make(bound.most)).ok()) << bound.field;
    EXPECT_THAT(handled.Ask(bound.make(bound.most + 1)),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(std::string(bound.field) + ": got ")));
    if (bound.least == 0) continue;
    EXPECT_THAT(handled.Ask(bound.make(bound.least - 1)),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(std::string(bound.field) + ": ")));
  }
  EXPECT_EQ(handled.observer.invalid, 9);
}

TEST(RateLimiterHandler, NamesTheEntryThatIsNotUtf8) {
  Handled handled;
  v1::ShouldAllowRequest request =
      MakeRequest("shop", {{"user", "ana"}, {"ip", "\xFF"}});
  EXPECT_THAT(handled.Ask(request),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("descriptors[0].entries[1].value: ")));
}

TEST(RateLimiterHandler, TakesUntilTheDeadlineAndNothingAfterIt) {
  Handled handled;
  EXPECT_TRUE(handled.Ask(UserRequest("ana"), kStartNs).ok());
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(
        handled.Ask(UserRequest("ana"), kStartNs - 1),
        StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("deadline")));
  }
  EXPECT_EQ(handled.observer.expired, 5);
  EXPECT_EQ(handled.Ask(UserRequest("ana"))->statuses(0).remaining(), 0U);
}

v1::ShouldAllowBatchRequest BatchOf(int size) {
  v1::ShouldAllowBatchRequest batch;
  for (int i = 0; i < size; ++i) *batch.add_requests() = UserRequest("ana");
  return batch;
}

TEST(RateLimiterHandler, AnswersABatchInOrderEachOnItsOwn) {
  Handled handled(2);
  v1::ShouldAllowBatchRequest batch = BatchOf(4);
  *batch.mutable_requests(1) = UserRequest("bob");
  batch.mutable_requests(3)->set_cost(1);
  const auto response = handled.AskBatch(batch);
  ASSERT_TRUE(response.ok());
  ASSERT_EQ(response->answers_size(), 4);
  EXPECT_EQ(response->answers(0).decision().statuses(0).remaining(), 1U);
  EXPECT_EQ(response->answers(1).decision().statuses(0).remaining(), 1U);
  EXPECT_EQ(response->answers(2).decision().outcome(), v1::ALLOWED);
  EXPECT_EQ(response->answers(2).decision().statuses(0).remaining(), 0U);
  EXPECT_EQ(response->answers(3).decision().outcome(), v1::REFUSED);
}

TEST(RateLimiterHandler, LetsABadRequestOfABatchFailAlone) {
  Handled handled(5);
  v1::ShouldAllowBatchRequest batch = BatchOf(3);
  batch.mutable_requests(1)->mutable_descriptors(0)->clear_entries();
  const auto response = handled.AskBatch(batch);
  ASSERT_TRUE(response.ok());
  ASSERT_EQ(response->answers_size(), 3);
  EXPECT_TRUE(response->answers(0).has_decision());
  EXPECT_TRUE(response->answers(2).has_decision());
  ASSERT_TRUE(response->answers(1).has_error());
  EXPECT_EQ(response->answers(1).error().code(), 3);
  EXPECT_EQ(response->answers(1).error().message(),
            "requests[1].descriptors[0].entries: got 0, want 1 to 32");
  EXPECT_EQ(handled.observer.invalid, 1);
}

TEST(RateLimiterHandler, BoundsABatch) {
  Handled handled(5000);
  EXPECT_EQ(handled.AskBatch(BatchOf(1))->answers_size(), 1);
  EXPECT_EQ(handled.AskBatch(BatchOf(1000))->answers_size(), 1000);
  EXPECT_THAT(handled.AskBatch(BatchOf(1001)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "requests: got 1001, want 1 to 1000"));
  EXPECT_THAT(handled.AskBatch(BatchOf(0)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "requests: got 0, want 1 to 1000"));
  const auto last = handled.Ask(UserRequest("ana"));
  EXPECT_EQ(last->statuses(0).remaining(), 5000U - 1002U);
}

TEST(RateLimiterHandler, TakesNothingForABatchPastItsDeadline) {
  Handled handled(5);
  const auto response = handled.AskBatch(BatchOf(2), kStartNs - 1);
  ASSERT_TRUE(response.ok());
  for (const v1::BatchAnswer& answer : response->answers()) {
    EXPECT_EQ(answer.error().code(), 4);
  }
  EXPECT_EQ(handled.observer.expired, 2);
  EXPECT_EQ(handled.Ask(UserRequest("ana"))->statuses(0).remaining(), 4U);
}

v1::RefundRequest RefundFor(const v1::ShouldAllowRequest& request) {
  v1::RefundRequest refund;
  refund.set_domain(request.domain());
  *refund.mutable_descriptors() = request.descriptors();
  return refund;
}

TEST(RateLimiterHandler, GivesBackWhatAnAllowedRequestTook) {
  Handled handled(5);
  v1::ShouldAllowRequest request = UserRequest("ana");
  request.set_cost(4);
  const auto allowed = handled.Ask(request);
  ASSERT_TRUE(allowed.ok());
  EXPECT_EQ(allowed->statuses(0).remaining(), 1U);
  v1::RefundRequest refund = RefundFor(request);
  refund.set_cost(3);
  *refund.mutable_decided_at() = allowed->decided_at();
  v1::RefundResponse response;
  EXPECT_THAT(handled.Refund(refund, response), IsOk());
  ASSERT_EQ(response.statuses_size(), 1);
  EXPECT_EQ(response.statuses(0).rule(), "per-user");
  EXPECT_EQ(response.statuses(0).remaining(), 4U);
  EXPECT_EQ(handled.Ask(UserRequest("ana"))->statuses(0).remaining(), 3U);
}

TEST(RateLimiterHandler, GivesBackOneIfTheCostIsUnsetAndNeverMoreThanTheBurst) {
  Handled handled(5);
  ASSERT_TRUE(handled.Ask(UserRequest("ana")).ok());
  ASSERT_TRUE(handled.Ask(UserRequest("ana")).ok());
  v1::RefundRequest refund = RefundFor(UserRequest("ana"));
  for (const uint64_t left : {4U, 5U, 5U}) {
    v1::RefundResponse response;
    EXPECT_THAT(handled.Refund(refund, response), IsOk());
    EXPECT_EQ(response.statuses(0).remaining(), left);
  }
  refund.set_cost(4294967295U);
  v1::RefundResponse response;
  EXPECT_THAT(handled.Refund(refund, response), IsOk());
  EXPECT_EQ(handled.Ask(UserRequest("ana"))->statuses(0).remaining(), 4U);
}

TEST(RateLimiterHandler, NamesWhatIsBadOfARefund) {
  Handled handled;
  v1::RefundResponse response;
  v1::RefundRequest refund = RefundFor(UserRequest("ana"));
  refund.set_cost(0);
  EXPECT_THAT(handled.Refund(refund, response),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "cost: got 0, want at least 1"));
  refund.clear_cost();
  const struct {
    int64_t seconds;
    int32_t nanos;
    bool good;
  } kTimes[] = {
      {0, 0, true},
      {4'611'686'017, 999'999'999, true},
      {-1, 0, false},
      {0, -1, false},
      {0, 1'000'000'000, false},
      {4'611'686'018, 0, false},
  };
  int bad = 1;
  for (const auto& time : kTimes) {
    refund.mutable_decided_at()->set_seconds(time.seconds);
    refund.mutable_decided_at()->set_nanos(time.nanos);
    response.Clear();
    const absl::Status status = handled.Refund(refund, response);
    if (time.good) {
      EXPECT_THAT(status, IsOk()) << time.seconds << " " << time.nanos;
      continue;
    }
    ++bad;
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr("decided_at: got ")))
        << time.seconds << " " << time.nanos;
  }
  refund.clear_decided_at();
  refund.set_overflow("x");
  EXPECT_THAT(handled.Refund(refund, response),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("overflow: got 1 bytes")));
  ++bad;
  refund.clear_overflow();
  refund.clear_domain();
  EXPECT_THAT(
      handled.Refund(refund, response),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("domain: empty")));
  EXPECT_EQ(handled.observer.invalid, bad + 1);
  EXPECT_EQ(handled.limiter.bucket_count(), 0U);
}

absl::Status ReleaseTicket(Handled& handled, const std::string& ticket) {
  v1::ReleaseRequest request;
  request.set_ticket(ticket);
  v1::ReleaseResponse response;
  return AtOnce<absl::Status>([&](auto done) {
    handled.handler.Release(request, kNoDeadline, response, done);
  });
}

TEST(RateLimiterHandler, ReleasesTheSlotsOfATicketOnce) {
  Handled handled;
  SetExports(handled.limiter, 2);
  const auto first = handled.Ask(UserRequest("ana"));
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->ticket().size(), 24U);
  const auto second = handled.Ask(UserRequest("ana"));
  EXPECT_NE(first->ticket(), second->ticket());
  const auto refused = handled.Ask(UserRequest("ana"));
  EXPECT_EQ(refused->outcome(), v1::REFUSED);
  EXPECT_EQ(refused->ticket(), "");

  EXPECT_THAT(ReleaseTicket(handled, first->ticket()), IsOk());
  EXPECT_THAT(ReleaseTicket(handled, first->ticket()), IsOk());
  EXPECT_EQ(handled.Ask(UserRequest("ana"))->outcome(), v1::ALLOWED);
  EXPECT_EQ(handled.Ask(UserRequest("ana"))->outcome(), v1::REFUSED);
}

TEST(RateLimiterHandler, ALateReleaseFreesNobodysSlot) {
  Handled handled;
  SetExports(handled.limiter, 2);
  const auto first = handled.Ask(UserRequest("ana"));
  ASSERT_TRUE(first.ok());
  handled.clock.Advance(30'000'000'000);
  EXPECT_EQ(handled.Ask(UserRequest("ana"))->outcome(), v1::ALLOWED);
  EXPECT_EQ(handled.Ask(UserRequest("ana"))->outcome(), v1::ALLOWED);
  EXPECT_THAT(ReleaseTicket(handled, first->ticket()), IsOk());
  EXPECT_EQ(handled.Ask(UserRequest("ana"))->outcome(), v1::REFUSED);
}

TEST(RateLimiterHandler, AForgedTicketOfTheRightLengthFreesNothing) {
  Handled handled;
  SetExports(handled.limiter, 2);
  std::string ticket = handled.Ask(UserRequest("ana"))->ticket();
  EXPECT_EQ(handled.Ask(UserRequest("ana"))->outcome(), v1::ALLOWED);
  ticket.back() = static_cast<char>(ticket.back() ^ 0x40);
  EXPECT_THAT(ReleaseTicket(handled, ticket), IsOk());
  EXPECT_THAT(ReleaseTicket(handled, std::string(24, '\xFF')), IsOk());
  EXPECT_EQ(handled.Ask(UserRequest("ana"))->outcome(), v1::REFUSED);
}

TEST(RateLimiterHandler, NamesATicketOfABadLength) {
  Handled handled;
  for (const size_t bytes : {0, 1, 23, 25, 24 * 4097}) {
    EXPECT_THAT(
        ReleaseTicket(handled, std::string(bytes, 'x')),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("ticket: got ")))
        << bytes;
  }
  for (const size_t bytes : {24, 48, 24 * 4096}) {
    EXPECT_THAT(ReleaseTicket(handled, std::string(bytes, 'x')), IsOk())
        << bytes;
  }
  EXPECT_EQ(handled.observer.invalid, 5);
}

}  // namespace
}  // namespace tollgate
