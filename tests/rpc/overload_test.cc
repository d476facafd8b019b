// What becomes of calls while the service has too many of them.
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "envoy/service/ratelimit/v3/rls.grpc.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/rpc/served.h"
#include "tests/support/later_store.h"
#include "tests/support/tcp_client.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;

// Whether `holds` comes to hold within a time that only a hanging test takes.
bool Eventually(const std::function<bool()>& holds) {
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < until) {
    if (holds()) return true;
    std::this_thread::yield();
  }
  return false;
}

grpc::StatusCode Peek(const Served& served) {
  v1::ShouldAllowRequest peek = UserRequest("ana");
  peek.set_cost(0);
  v1::ShouldAllowResponse response;
  return served.Ask(peek, response).error_code();
}

bool IsAnswered(const Served& served) {
  return Peek(served) == grpc::StatusCode::OK;
}

Served OnLaterStore(std::unique_ptr<LaterStore>& store,
                    RpcServerOptions options) {
  return Served(100, std::move(options), Served::Steady::kReal,
                [&store](Limiter& limiter) -> BucketStore& {
                  store = std::make_unique<LaterStore>(limiter);
                  return *store;
                });
}

TEST(Overload, TurnsAwayWhatTheStoreHasNoPlaceForUntilItAnswers) {
  std::unique_ptr<LaterStore> store;
  const Served served = OnLaterStore(store, {.threads = 2, .max_in_flight = 3});
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      EXPECT_EQ(served.Ask(UserRequest("ana")).outcome(), v1::ALLOWED);
    });
  }
  EXPECT_TRUE(store->WaitFor(3));
  v1::ShouldAllowResponse response;
  const grpc::Status status = served.Ask(UserRequest("ana"), response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("too many calls in flight"));
  EXPECT_EQ(served.observer.overload, 1);
  store->LetGo();
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(Eventually([&] { return IsAnswered(served); }));
}

TEST(Overload, LeavesAdminAndHealthAlone) {
  std::unique_ptr<LaterStore> store;
  const Served served = OnLaterStore(store, {.threads = 2, .max_in_flight = 1});
  std::thread caller([&] {
    EXPECT_EQ(served.Ask(UserRequest("ana")).outcome(), v1::ALLOWED);
  });
  EXPECT_TRUE(store->WaitFor(1));
  EXPECT_EQ(Peek(served), grpc::StatusCode::UNAVAILABLE);
  const auto admin = v1::Admin::NewStub(served.channel);
  grpc::ClientContext context;
  SetDeadline(context);
  v1::GetRulesResponse rules;
  const grpc::Status status =
      admin->GetRules(&context, v1::GetRulesRequest(), &rules);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(served.AskRaw("/grpc.health.v1.Health/Check", "").ok());
  store->LetGo();
  caller.join();
}

TEST(Overload, GivesThePlacesBackOfCallersWhoHaveGone) {
  std::unique_ptr<LaterStore> store;
  Served served = OnLaterStore(store, {.threads = 2, .max_in_flight = 2});
  {
    grpc::CompletionQueue queue;
    grpc::ClientContext cancelled;
    SetDeadline(cancelled);
    grpc::ClientContext late;
    late.set_deadline(std::chrono::system_clock::now() +
                      std::chrono::milliseconds(500));
    v1::ShouldAllowResponse responses[2];
    grpc::Status statuses[2];
    const auto first =
        served.stub->AsyncShouldAllow(&cancelled, UserRequest("ana"), &queue);
    first->Finish(&responses[0], &statuses[0], nullptr);
    EXPECT_TRUE(store->WaitFor(1));
    const auto second =
        served.stub->AsyncShouldAllow(&late, UserRequest("bob"), &queue);
    second->Finish(&responses[1], &statuses[1], nullptr);
    cancelled.TryCancel();
    void* tag = nullptr;
    bool ok = false;
    for (int i = 0; i < 2; ++i) queue.Next(&tag, &ok);
  }
  store->LetGo();
  EXPECT_TRUE(Eventually([&] { return IsAnswered(served); }));
  served.server->Drain(absl::Seconds(30));
  EXPECT_EQ(served.observer.arrivals, served.observer.finishes);
}

// A header field of HPACK: literal, not indexed, not compressed.
std::string Field(const std::string& name, const std::string& value) {
  const auto text = [](const std::string& of) {
    return std::string(1, static_cast<char>(of.size())) + of;
  };
  return std::string(1, '\0') + text(name) + text(value);
}

// A frame of HTTP/2.
std::string Frame(char type, char flags, char stream,
                  const std::string& payload) {
  const size_t size = payload.size();
  const std::string head = {static_cast<char>(size >> 16),
                            static_cast<char>(size >> 8),
                            static_cast<char>(size),
                            type,
                            flags,
                            0,
                            0,
                            0,
                            stream};
  return head + payload;
}

// One connection that asks so often and lets no byte of an answer come back:
// its flow control window is zero.
std::string AsksWithoutReading(int calls) {
  constexpr char kData = 0, kHeaders = 1, kSettings = 4;
  constexpr char kEndStream = 1, kEndHeaders = 4;
  const std::string initial_window_0 = {0, 4, 0, 0, 0, 0};
  std::string bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
                      Frame(kSettings, 0, 0, initial_window_0);
  const std::string headers =
      Field(":method", "POST") + Field(":scheme", "http") +
      Field(":path", "/tollgate.v1.RateLimiter/ShouldAllow") +
      Field(":authority", "localhost") + Field("te", "trailers") +
      Field("content-type", "application/grpc");
  const std::string message = UserRequest("ana").SerializeAsString();
  const std::string prefixed =
      std::string(4, '\0') + static_cast<char>(message.size()) + message;
  for (int i = 0; i < calls; ++i) {
    const char stream = static_cast<char>(2 * i + 1);
    bytes += Frame(kHeaders, kEndHeaders, stream, headers);
    bytes += Frame(kData, kEndStream, stream, prefixed);
  }
  return bytes;
}

TEST(Overload, TakesThePlacesOfAnswersThatNobodyReads) {
  constexpr int kPlaces = 3;
  Served served(100,
                {.threads = 2,
                 .max_in_flight = kPlaces,
                 .policy_interval = absl::Milliseconds(10)},
                Served::Steady::kFake);
  const int fd = ConnectTo(served.port);
  ASSERT_GE(fd, 0);
  const std::string bytes = AsksWithoutReading(kPlaces);
  ASSERT_EQ(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
  ASSERT_TRUE(Eventually([&] { return served.observer.arrivals == kPlaces; }));
  EXPECT_EQ(Peek(served), grpc::StatusCode::UNAVAILABLE);
  // Too early to drop them.
  served.fake_steady.Advance(absl::ToInt64Nanoseconds(kUnreadPatience));
  EXPECT_EQ(Peek(served), grpc::StatusCode::UNAVAILABLE);
  served.fake_steady.Advance(1);
  EXPECT_TRUE(Eventually([&] { return IsAnswered(served); }));
  ::close(fd);
}

// Each look at it takes a time of its own.
class HurriedClock final : public Clock {
 public:
  [[nodiscard]] int64_t NowNs() const override {
    return now_ns_.fetch_add(step_ns_);
  }
  void SetStep(absl::Duration step) {
    step_ns_ = absl::ToInt64Nanoseconds(step);
  }

 private:
  mutable std::atomic<int64_t> now_ns_{0};
  std::atomic<int64_t> step_ns_{0};
};

// Without a deadline, which the clock above would soon have passed.
template <typename Stub, typename Request, typename Response>
grpc::StatusCode CodeOf(Stub& stub,
                        grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                     const Request&, Response*),
                        const Request& request) {
  grpc::ClientContext context;
  Response response;
  return (stub.*method)(&context, request, &response).error_code();
}

TEST(Overload, TurnsAwayWhatAsksWhileCallsWaitTooLongForAThread) {
  using Gateway = envoy::service::ratelimit::v3::RateLimitService;
  using grpc::StatusCode;
  HurriedClock clock;
  const Served served(100,
                      {.threads = 2, .max_queue_wait = absl::Milliseconds(50)},
                      Served::Steady::kReal, nullptr, &clock);
  v1::RateLimiter::Stub& stub = *served.stub;
  const auto ask = [&] {
    return CodeOf(stub, &v1::RateLimiter::Stub::ShouldAllow,
                  UserRequest("ana"));
  };
  clock.SetStep(absl::Milliseconds(1));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ask(), StatusCode::OK);
  clock.SetStep(absl::Milliseconds(60));
  EXPECT_TRUE(Eventually([&] { return ask() == StatusCode::UNAVAILABLE; }));
  EXPECT_GE(served.observer.long_queue, 1);
  EXPECT_EQ(served.observer.overload, 0);

  v1::ShouldAllowBatchRequest batch;
  *batch.add_requests() = UserRequest("ana");
  EXPECT_EQ(CodeOf(stub, &v1::RateLimiter::Stub::ShouldAllowBatch, batch),
            StatusCode::UNAVAILABLE);
  const auto gateway = Gateway::NewStub(served.channel);
  EXPECT_EQ(CodeOf(*gateway, &Gateway::Stub::ShouldRateLimit,
                   envoy::service::ratelimit::v3::RateLimitRequest()),
            StatusCode::UNAVAILABLE);
  // What gives back is worked, here to find that it is bad; Admin is served.
  EXPECT_EQ(CodeOf(stub, &v1::RateLimiter::Stub::Release, v1::ReleaseRequest()),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(CodeOf(stub, &v1::RateLimiter::Stub::Refund, v1::RefundRequest()),
            StatusCode::INVALID_ARGUMENT);
  const auto admin = v1::Admin::NewStub(served.channel);
  EXPECT_EQ(CodeOf(*admin, &v1::Admin::Stub::GetRules, v1::GetRulesRequest()),
            StatusCode::OK);

  clock.SetStep(absl::ZeroDuration());
  EXPECT_TRUE(Eventually([&] { return ask() == StatusCode::OK; }));
}

}  // namespace
}  // namespace tollgate
