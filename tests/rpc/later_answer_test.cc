// The services on a store that answers later and on another thread.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "envoy/service/ratelimit/v3/rls.grpc.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/rpc/rpc_server.h"
#include "tests/rpc/served.h"
#include "tests/support/later_store.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;

Served OnLaterStore(std::unique_ptr<LaterStore>& store) {
  return Served(2, {.threads = 2}, Served::Steady::kReal,
                [&store](Limiter& limiter) -> BucketStore& {
                  store = std::make_unique<LaterStore>(limiter);
                  return *store;
                });
}

TEST(LaterAnswer, ComesForEachOfManyCallsThatWaitTogether) {
  constexpr int kCalls = 40;  // more than are posted on a queue
  std::unique_ptr<LaterStore> store;
  const Served served = OnLaterStore(store);
  std::vector<std::thread> callers;
  std::vector<std::string> rules(kCalls);
  std::vector<uint64_t> remaining(kCalls);
  callers.reserve(kCalls);
  for (int i = 0; i < kCalls; ++i) {
    callers.emplace_back([&, i] {
      v1::ShouldAllowRequest request = UserRequest(
          "user with a name that is not short " + std::to_string(i));
      request.set_cost(static_cast<uint64_t>(1 + i % 2));
      const v1::ShouldAllowResponse answer = served.Ask(request);
      ASSERT_EQ(answer.statuses_size(), 1);
      remaining[static_cast<size_t>(i)] = answer.statuses(0).remaining();
    });
  }
  EXPECT_TRUE(store->WaitFor(kCalls));
  store->LetGo();
  for (std::thread& caller : callers) caller.join();
  for (int i = 0; i < kCalls; ++i) {
    EXPECT_EQ(remaining[static_cast<size_t>(i)], i % 2 == 0 ? 1U : 0U) << i;
  }
}

TEST(LaterAnswer, KeepsTheOrderOfABatchWhoseDecisionsComeInAnother) {
  std::unique_ptr<LaterStore> store;
  const Served served = OnLaterStore(store);
  v1::ShouldAllowBatchRequest batch;
  for (const uint64_t cost : {1, 2, 3}) {
    *batch.add_requests() = UserRequest("user-" + std::to_string(cost));
    batch.mutable_requests()->rbegin()->set_cost(cost);
  }
  batch.add_requests();  // names no domain
  v1::ShouldAllowBatchResponse answers;
  std::thread caller([&] {
    grpc::ClientContext context;
    SetDeadline(context);
    const grpc::Status status =
        served.stub->ShouldAllowBatch(&context, batch, &answers);
    EXPECT_TRUE(status.ok()) << status.error_message();
  });
  EXPECT_TRUE(store->WaitFor(3));  // answered newest first
  store->LetGo();
  caller.join();
  ASSERT_EQ(answers.answers_size(), 4);
  EXPECT_EQ(answers.answers(0).decision().statuses(0).remaining(), 1U);
  EXPECT_EQ(answers.answers(1).decision().statuses(0).remaining(), 0U);
  EXPECT_EQ(answers.answers(2).decision().outcome(), v1::IMPOSSIBLE);
  EXPECT_THAT(answers.answers(3).error().message(),
              HasSubstr("requests[3].domain"));
}

TEST(LaterAnswer, FindsEachGatewaysDescriptorsWhereTheyWere) {
  using envoy::service::ratelimit::v3::RateLimitRequest;
  using envoy::service::ratelimit::v3::RateLimitResponse;
  using envoy::service::ratelimit::v3::RateLimitService;
  std::unique_ptr<LaterStore> store;
  const Served served = OnLaterStore(store);
  // The descriptor that a rule applies to is number i of 4; one without entries
  // asks nothing.
  const auto ask = [&](int at) {
    RateLimitRequest request;
    request.set_domain("shop");
    for (int i = 0; i < 4; ++i) {
      auto* const descriptor = request.add_descriptors();
      if (i != at) continue;
      auto* const entry = descriptor->add_entries();
      entry->set_key("user");
      entry->set_value("user-" + std::to_string(at));
    }
    grpc::ClientContext context;
    SetDeadline(context);
    RateLimitResponse response;
    const grpc::Status status =
        RateLimitService::NewStub(served.channel)
            ->ShouldRateLimit(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    ASSERT_EQ(response.statuses_size(), 4);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(response.statuses(i).has_current_limit(), i == at) << i;
    }
  };
  std::vector<std::thread> callers;
  for (int at = 0; at < 4; ++at) callers.emplace_back(ask, at);
  EXPECT_TRUE(store->WaitFor(4));
  store->LetGo();
  for (std::thread& caller : callers) caller.join();
}

TEST(LaterAnswer, GivesBackLooksAndResets) {
  std::unique_ptr<LaterStore> store;
  const Served served = OnLaterStore(store);
  store->LetGo();
  EXPECT_EQ(served.Ask(UserRequest("ana")).statuses(0).remaining(), 1U);
  v1::RefundRequest refund;
  refund.set_domain("shop");
  *refund.mutable_descriptors() = UserRequest("ana").descriptors();
  v1::RefundResponse refunded;
  {
    grpc::ClientContext context;
    SetDeadline(context);
    ASSERT_TRUE(served.stub->Refund(&context, refund, &refunded).ok());
  }
  ASSERT_EQ(refunded.statuses_size(), 1);
  EXPECT_EQ(refunded.statuses(0).remaining(), 2U);

  EXPECT_EQ(served.Ask(UserRequest("ana")).outcome(), v1::ALLOWED);
  const auto admin = v1::Admin::NewStub(served.channel);
  v1::ResetBucketRequest reset;
  reset.set_domain("shop");
  *reset.mutable_descriptors() = UserRequest("ana").descriptors();
  v1::ResetBucketResponse count;
  {
    grpc::ClientContext context;
    SetDeadline(context);
    ASSERT_TRUE(admin->ResetBucket(&context, reset, &count).ok());
  }
  EXPECT_EQ(count.count(), 1U);
  v1::PeekBucketRequest peek;
  peek.set_domain("shop");
  *peek.mutable_descriptors() = UserRequest("ana").descriptors();
  v1::PeekBucketResponse seen;
  {
    grpc::ClientContext context;
    SetDeadline(context);
    ASSERT_TRUE(admin->PeekBucket(&context, peek, &seen).ok());
  }
  ASSERT_EQ(seen.buckets_size(), 1);
  EXPECT_EQ(seen.buckets(0).remaining(), 2U);
}

TEST(LaterAnswer, IsWaitedForByADrainThatCutsItsCallOff) {
  std::unique_ptr<LaterStore> store;
  Served served = OnLaterStore(store);
  std::thread caller([&] {
    v1::ShouldAllowResponse response;
    EXPECT_FALSE(served.Ask(UserRequest("ana"), response).ok());
  });
  EXPECT_TRUE(store->WaitFor(1));
  std::thread draining([&] { served.server->Drain(absl::ZeroDuration()); });
  caller.join();  // cut off, and the store has not answered
  store->LetGo();
  draining.join();
  EXPECT_EQ(served.observer.arrivals, served.observer.finishes);
}

TEST(LaterAnswer, ReachesNobodyWhoHasGoneAndHarmsNothing) {
  std::unique_ptr<LaterStore> store;
  Served served = OnLaterStore(store);
  {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::milliseconds(50));
    v1::ShouldAllowResponse response;
    EXPECT_EQ(served.stub->ShouldAllow(&context, UserRequest("ana"), &response)
                  .error_code(),
              grpc::StatusCode::DEADLINE_EXCEEDED);
  }
  store->LetGo();
  EXPECT_EQ(served.Ask(UserRequest("bob")).outcome(), v1::ALLOWED);
}

}  // namespace
}  // namespace tollgate
