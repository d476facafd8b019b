#include "server/rpc/rpc_server.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/rpc/served.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(RpcServer, AllowsThenRefusesAndSaysExactlyHowLongToWait) {
  Served served(2);
  EXPECT_EQ(served.Ask(UserRequest("ana")).outcome(), v1::ALLOWED);
  const v1::ShouldAllowResponse last = served.Ask(UserRequest("ana"));
  EXPECT_EQ(last.outcome(), v1::ALLOWED);
  ASSERT_EQ(last.statuses_size(), 1);
  EXPECT_EQ(last.statuses(0).rule(), "per-user");
  EXPECT_EQ(last.statuses(0).limit().tokens(), 2U);
  EXPECT_EQ(last.statuses(0).limit().period().seconds(), 1);
  EXPECT_EQ(last.statuses(0).remaining(), 0U);
  EXPECT_EQ(last.statuses(0).reset_after().seconds(), 1);

  const v1::ShouldAllowResponse refused = served.Ask(UserRequest("ana"));
  EXPECT_EQ(refused.outcome(), v1::REFUSED);
  EXPECT_EQ(refused.retry_after().seconds(), 0);
  EXPECT_EQ(refused.retry_after().nanos(), 500'000'000);
  served.clock.Advance(499'999'999);
  EXPECT_EQ(served.Ask(UserRequest("ana")).outcome(), v1::REFUSED);
  served.clock.Advance(1);
  EXPECT_EQ(served.Ask(UserRequest("ana")).outcome(), v1::ALLOWED);
}

TEST(RpcServer, SaysThatACostAboveTheBurstIsImpossible) {
  Served served(2);
  v1::ShouldAllowRequest request = UserRequest("ana");
  request.set_cost(3);
  const v1::ShouldAllowResponse response = served.Ask(request);
  EXPECT_EQ(response.outcome(), v1::IMPOSSIBLE);
  EXPECT_EQ(served.Ask(UserRequest("ana")).statuses(0).remaining(), 1U);
}

TEST(RpcServer, PeeksWithoutTaking) {
  Served served(2);
  v1::ShouldAllowRequest peek = UserRequest("ana");
  peek.set_cost(0);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(served.Ask(peek).statuses(0).remaining(), 2U);
  }
  EXPECT_EQ(served.limiter.bucket_count(), 0U);
}

TEST(RpcServer, AllowsWhatNoRuleNames) {
  Served served(2);
  const v1::ShouldAllowResponse response =
      served.Ask(MakeRequest("elsewhere", {{"user", "ana"}}));
  EXPECT_EQ(response.outcome(), v1::ALLOWED);
  EXPECT_EQ(response.statuses_size(), 0);
}

TEST(RpcServer, RefusesABadRequestNamingTheField) {
  Served served;
  v1::ShouldAllowResponse response;
  const grpc::Status status =
      served.Ask(MakeRequest("shop", {{"", "ana"}}), response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(),
              HasSubstr("descriptors[0].entries[0].key: empty"));
  EXPECT_EQ(served.observer.invalid, 1);
}

TEST(RpcServer, AnswersABatchOfAThousand) {
  Served served(600);
  v1::ShouldAllowBatchRequest batch;
  for (int i = 0; i < 1000; ++i) *batch.add_requests() = UserRequest("ana");
  v1::ShouldAllowBatchResponse response;
  grpc::ClientContext context;
  SetDeadline(context);
  ASSERT_TRUE(served.stub->ShouldAllowBatch(&context, batch, &response).ok());
  ASSERT_EQ(response.answers_size(), 1000);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(response.answers(i).decision().outcome(),
              i < 600 ? v1::ALLOWED : v1::REFUSED);
  }
  *batch.add_requests() = UserRequest("ana");
  grpc::ClientContext again;
  SetDeadline(again);
  EXPECT_EQ(
      served.stub->ShouldAllowBatch(&again, batch, &response).error_code(),
      grpc::StatusCode::INVALID_ARGUMENT);
}

// Calls a method that must answer.
template <typename Stub, typename Request, typename Response>
Response Call(Stub& stub,
              grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                           Response*),
              const Request& request) {
  grpc::ClientContext context;
  SetDeadline(context);
  Response response;
  const grpc::Status status = (stub.*method)(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response;
}

TEST(RpcServer, RefundsOverTheWire) {
  Served served(2);
  const v1::ShouldAllowResponse allowed = served.Ask(UserRequest("ana"));
  EXPECT_EQ(allowed.decided_at().seconds(), kStartNs / 1'000'000'000);
  v1::RefundRequest refund;
  refund.set_domain("shop");
  *refund.mutable_descriptors() = UserRequest("ana").descriptors();
  *refund.mutable_decided_at() = allowed.decided_at();
  const auto response =
      Call(*served.stub, &v1::RateLimiter::Stub::Refund, refund);
  EXPECT_EQ(response.statuses(0).remaining(), 2U);
}

TEST(RpcServer, ReleasesOverTheWire) {
  Served served;
  SetExports(served.limiter, 1);
  const v1::ShouldAllowResponse allowed = served.Ask(UserRequest("ana"));
  EXPECT_EQ(served.Ask(UserRequest("ana")).outcome(), v1::REFUSED);
  v1::ReleaseRequest release;
  release.set_ticket(allowed.ticket());
  Call(*served.stub, &v1::RateLimiter::Stub::Release, release);
  EXPECT_EQ(served.Ask(UserRequest("ana")).outcome(), v1::ALLOWED);

  release.set_ticket("bad");
  grpc::ClientContext context;
  SetDeadline(context);
  v1::ReleaseResponse response;
  const grpc::Status status =
      served.stub->Release(&context, release, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("ticket: got 3 bytes"));
}

TEST(RpcServer, AdministersOverTheWire) {
  Served served(2);
  const auto admin = v1::Admin::NewStub(served.channel);
  EXPECT_EQ(served.Ask(UserRequest("ana")).outcome(), v1::ALLOWED);
  EXPECT_EQ(Call(*admin, &v1::Admin::Stub::GetRules, v1::GetRulesRequest())
                .rules(0)
                .name(),
            "per-user");
  v1::ExplainRequest explain;
  explain.set_domain("shop");
  *explain.mutable_descriptors() = UserRequest("ana").descriptors();
  EXPECT_TRUE(
      Call(*admin, &v1::Admin::Stub::Explain, explain).rules(0).applies());
  v1::PeekBucketRequest peek;
  peek.set_domain("shop");
  *peek.mutable_descriptors() = UserRequest("ana").descriptors();
  EXPECT_EQ(
      Call(*admin, &v1::Admin::Stub::PeekBucket, peek).buckets(0).remaining(),
      1U);
  v1::ResetBucketRequest reset;
  reset.set_domain("shop");
  *reset.mutable_descriptors() = UserRequest("ana").descriptors();
  EXPECT_EQ(Call(*admin, &v1::Admin::Stub::ResetBucket, reset).count(), 1U);
  EXPECT_EQ(served.Ask(UserRequest("ana")).statuses(0).remaining(), 1U);
}

TEST(RpcServer, AdmitsExactlyTheLimitToManyConnections) {
  Served served(150);
  std::atomic<int> allowed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      const auto stub = v1::RateLimiter::NewStub(served.Connect());
      for (int i = 0; i < 50; ++i) {
        grpc::ClientContext context;
        SetDeadline(context);
        v1::ShouldAllowResponse response;
        if (stub->ShouldAllow(&context, UserRequest("ana"), &response).ok() &&
            response.outcome() == v1::ALLOWED) {
          ++allowed;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allowed, 150);
  served.server->Drain(absl::Seconds(10));
  EXPECT_EQ(served.observer.arrivals, 400);
  EXPECT_EQ(served.observer.finishes, 400);
}

TEST(RpcServer, TakesNothingForACallWhoseDeadlineHasPassed) {
  Served served(2, {}, Served::Steady::kFake);
  served.fake_steady.Set(int64_t{1} << 62);  // past every real deadline
  v1::ShouldAllowResponse response;
  const grpc::Status status = served.Ask(UserRequest("ana"), response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(status.error_message(), HasSubstr("had passed"));
  EXPECT_EQ(served.observer.expired, 1);
  EXPECT_EQ(served.limiter.bucket_count(), 0U);
}

TEST(RpcServer, TurnsAwayWhatIsAboveTheCapAtOnce) {
  Served served(5, {.threads = 2, .max_in_flight = 1});
  served.gate.Arm();
  std::thread held([&] {
    EXPECT_EQ(served.Ask(UserRequest("ana")).outcome(), v1::ALLOWED);
  });
  served.gate.WaitUntilEntered();
  // One of the two threads stands in the gate; calls that the other one takes
  // are answered at once. A connection always belongs to one thread, so ask
  // over several until one is of the other thread.
  grpc::Status status;
  for (int i = 0; i < 100; ++i) {
    const auto stub = v1::RateLimiter::NewStub(served.Connect());
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::milliseconds(500));
    v1::ShouldAllowResponse response;
    status = stub->ShouldAllow(&context, UserRequest("ana"), &response);
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE) break;
  }
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("overloaded"));
  EXPECT_GE(served.observer.overload, 1);
  served.gate.Open();
  held.join();
}

// grpc.health.v1 by hand: field 1 of the request is the service's name, field
// 1 of the answer is 1 (SERVING) or 2 (NOT_SERVING).
std::string Health(const Served& served, const std::string& name) {
  const std::string request = absl::StrCat(
      "\x0A", std::string(1, static_cast<char>(name.size())), name);
  std::string answer;
  const grpc::Status status =
      served.AskRaw("/grpc.health.v1.Health/Check", request, &answer);
  if (status.error_code() == grpc::StatusCode::NOT_FOUND) return "NOT_FOUND";
  if (!status.ok()) return status.error_message();
  if (answer == std::string("\x08\x01", 2)) return "SERVING";
  if (answer == std::string("\x08\x02", 2)) return "NOT_SERVING";
  return "?";
}

TEST(RpcServer, IsNotHealthyOnceItAnnouncesItsShutdownButStillAnswers) {
  Served served;
  EXPECT_EQ(Health(served, ""), "SERVING");
  EXPECT_EQ(Health(served, "tollgate.v1.RateLimiter"), "SERVING");
  EXPECT_EQ(Health(served, "tollgate.v1.Admin"), "SERVING");
  EXPECT_EQ(Health(served, "other"), "NOT_FOUND");
  served.server->AnnounceShutdown();
  EXPECT_EQ(Health(served, ""), "NOT_SERVING");
  EXPECT_EQ(Health(served, "tollgate.v1.RateLimiter"), "NOT_SERVING");
  EXPECT_EQ(served.Ask(UserRequest("ana")).outcome(), v1::ALLOWED);
}

TEST(RpcServer, FinishesWhatIsInFlightWhileItDrains) {
  Served served(2, {.threads = 2});
  served.gate.Arm();
  std::thread held([&] {
    EXPECT_EQ(served.Ask(UserRequest("ana")).outcome(), v1::ALLOWED);
  });
  served.gate.WaitUntilEntered();
  std::thread draining([&] { served.server->Drain(absl::Seconds(30)); });
  // New connections find nobody as soon as the drain has begun.
  grpc::Status status;
  do {
    const auto stub = v1::RateLimiter::NewStub(served.Connect());
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::milliseconds(500));
    v1::ShouldAllowResponse response;
    v1::ShouldAllowRequest peek = UserRequest("bob");
    peek.set_cost(0);
    status = stub->ShouldAllow(&context, peek, &response);
  } while (status.error_code() != grpc::StatusCode::UNAVAILABLE);
  served.gate.Open();
  held.join();
  draining.join();
  EXPECT_EQ(served.observer.arrivals, served.observer.finishes);
}

TEST(RpcServer, DrainsTwiceAndWithoutACall) {
  Served served;
  served.server->Drain(absl::Seconds(1));
  served.server->Drain(absl::ZeroDuration());
}

TEST(RpcServer, SaysWhereItCannotListen) {
  Served served;
  RpcServerOptions options;
  options.listen = absl::StrCat("127.0.0.1:", served.port);
  const auto second =
      MakeRpcServer(options, served.limiter, served.store, served.clock,
                    served.real_steady, served.observer);
  EXPECT_THAT(second->Start(), StatusIs(absl::StatusCode::kUnavailable,
                                        HasSubstr(options.listen)));
}

TEST(RpcServer, ListsItsServicesByReflection) {
  Served served;
  grpc::GenericStub generic(served.channel);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  SetDeadline(context);
  void* tag = nullptr;
  bool ok = false;
  const auto call = generic.PrepareCall(
      &context,
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  call->StartCall(nullptr);
  queue.Next(&tag, &ok);
  // Field 7, list_services, of the request.
  call->WriteLast(ToBuffer(std::string("\x3A\x00", 2)), grpc::WriteOptions(),
                  nullptr);
  queue.Next(&tag, &ok);
  grpc::ByteBuffer answer;
  call->Read(&answer, nullptr);
  queue.Next(&tag, &ok);
  EXPECT_THAT(ToBytes(answer),
              AllOf(HasSubstr("tollgate.v1.RateLimiter"),
                    HasSubstr("tollgate.v1.Admin"),
                    HasSubstr("envoy.service.ratelimit.v3.RateLimitService")));
  grpc::Status status;
  call->Finish(&status, nullptr);
  queue.Next(&tag, &ok);
  EXPECT_TRUE(status.ok()) << status.error_message();
}

}  // namespace
}  // namespace tollgate
