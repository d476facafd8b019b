// The client over a real connection, to a service in this process.
#include "client/client.h"

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "tests/client/test_service.h"
#include "tests/support/status_matchers.h"

namespace tollgate::client {

bool AskFromCxx17(Client& client);  // in public_headers_cxx17.cc

namespace {

using ::testing::HasSubstr;

const Request kAna{"shop", {{{"user", "ana"}}}, 1};

// What a call may take beyond its timeout where every core is busy with other
// tests and sanitizers: what is tested is that it does not hang.
constexpr absl::Duration kSlack = absl::Milliseconds(500);

std::unique_ptr<Client> Connect(const std::string& target,
                                absl::Duration timeout) {
  ClientOptions options;
  options.target = target;
  options.timeout = timeout;
  return *Client::Create(options);
}

absl::Duration TimeOf(const std::function<void()>& action) {
  const SystemClock clock;
  const int64_t start_ns = clock.NowNs();
  action();
  return absl::Nanoseconds(clock.NowNs() - start_ns);
}

TEST(Client, PassesTheServicesAnswerOn) {
  TestService service([](const v1::ShouldAllowRequest& request,
                         v1::ShouldAllowResponse& response) {
    response.set_outcome(v1::REFUSED);
    response.mutable_retry_after()->set_nanos(7);
    response.add_statuses()->set_outcome(v1::REFUSED);
    response.mutable_statuses(0)->set_rule(
        request.descriptors(0).entries(0).value());
    return grpc::Status::OK;
  });
  const auto server = service.Listen();
  const auto client = Connect(service.target(), absl::Seconds(10));
  const Decision decision = client->ShouldAllow(kAna);
  EXPECT_THAT(decision.error, IsOk());
  EXPECT_EQ(decision.source, Source::kService);
  EXPECT_EQ(decision.outcome, Outcome::kRefused);
  EXPECT_EQ(decision.retry_after, absl::Nanoseconds(7));
  ASSERT_EQ(decision.statuses.size(), 1);
  EXPECT_EQ(decision.statuses[0].rule, "ana");
}

TEST(Client, CallsBackFromTheServicesAnswer) {
  TestService service;
  const auto server = service.Listen();
  const auto client = Connect(service.target(), absl::Seconds(10));
  std::promise<Source> source;
  client->ShouldAllowAsync(
      kAna, [&](const Decision& d) { source.set_value(d.source); });
  EXPECT_EQ(source.get_future().get(), Source::kService);
}

TEST(Client, ManyThreadsShareOneClient) {
  TestService service;
  const auto server = service.Listen();
  const auto client = Connect(service.target(), absl::Seconds(10));
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(client->ShouldAllow(kAna).source, Source::kService);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(service.calls(), 400);
}

TEST(Client, ErrorsOfTheServiceKeepTheirCodeAndMessage) {
  TestService service([](const auto&, auto&) {
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "cost: too odd");
  });
  const auto server = service.Listen();
  const auto client = Connect(service.target(), absl::Seconds(10));
  const Decision decision = client->ShouldAllow(kAna);
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.source, Source::kOutagePolicy);
  EXPECT_THAT(decision.error,
              StatusIs(absl::StatusCode::kInvalidArgument, "cost: too odd"));
}

TEST(Client, AnswersWithinTheTimeoutWhereNobodyListens) {
  const DeafPort port;
  const auto client = Connect(port.target(), absl::Milliseconds(20));
  for (int i = 0; i < 10; ++i) {
    Decision decision;
    const absl::Duration took =
        TimeOf([&] { decision = client->ShouldAllow(kAna); });
    EXPECT_LT(took, absl::Milliseconds(20) + kSlack);
    EXPECT_TRUE(decision.allowed);
    EXPECT_EQ(decision.source, Source::kBackstop);
    EXPECT_THAT(decision.error, testing::Not(IsOk()));
  }
  EXPECT_TRUE(client->stats().breaker_open);
}

TEST(Client, AnswersWithinTheTimeoutWhereNobodyReplies) {
  const DeafPort port;
  port.Listen();
  const auto client = Connect(port.target(), absl::Milliseconds(20));
  for (int i = 0; i < 3; ++i) {
    Decision decision;
    const absl::Duration took =
        TimeOf([&] { decision = client->ShouldAllow(kAna); });
    EXPECT_LT(took, absl::Milliseconds(20) + kSlack);
    EXPECT_EQ(decision.source, Source::kBackstop);
    EXPECT_THAT(decision.error,
                StatusIs(absl::StatusCode::kDeadlineExceeded, testing::_));
  }
  // The breaker is open: a hundred calls more take no timeout of their own.
  ASSERT_TRUE(client->stats().breaker_open);
  const absl::Duration took = TimeOf([&] {
    for (int i = 0; i < 100; ++i) client->ShouldAllow(kAna);
  });
  EXPECT_LT(took, absl::Milliseconds(20) + kSlack);
}

TEST(Client, AnswersWithinTheTimeoutWhereTheServiceIsTooSlow) {
  std::promise<void> release;
  std::shared_future<void> released = release.get_future();
  TestService service([released](const auto&, auto&) {
    released.wait();
    return grpc::Status::OK;
  });
  const auto server = service.Listen();
  const auto client = Connect(service.target(), absl::Milliseconds(20));
  Decision decision;
  const absl::Duration took =
      TimeOf([&] { decision = client->ShouldAllow(kAna); });
  EXPECT_GE(took, absl::Milliseconds(19));
  EXPECT_LT(took, absl::Milliseconds(20) + kSlack);
  EXPECT_EQ(decision.source, Source::kBackstop);
  release.set_value();
}

// Asks again and again, as a busy process would, until the service answers.
absl::Duration TimeUntilService(Client& client, absl::Duration patience) {
  const SystemClock clock;
  const int64_t start_ns = clock.NowNs();
  absl::Duration waited;
  while (client.ShouldAllow(kAna).source != Source::kService) {
    waited = absl::Nanoseconds(clock.NowNs() - start_ns);
    if (waited > patience) break;
    std::this_thread::yield();
  }
  return waited;
}

TEST(Client, UsesTheServiceWithinTwoSecondsOfItsStart) {
  TestService service;
  int port = 0;
  std::unique_ptr<Client> client;
  {
    const DeafPort refusing;
    port = refusing.port();
    client = Connect(refusing.target(), absl::Milliseconds(20));
    // Long enough for the pauses between attempts to reach their longest.
    EXPECT_GT(TimeUntilService(*client, absl::Milliseconds(2500)),
              absl::Milliseconds(2500));
  }
  const auto server = service.Listen(port);
  ASSERT_NE(server, nullptr);
  EXPECT_LT(TimeUntilService(*client, absl::Seconds(20)), absl::Seconds(2));
}

TEST(Client, UsesTheServiceWithinTwoSecondsOfItsRestart) {
  TestService service;
  auto server = service.Listen();
  const auto client = Connect(service.target(), absl::Milliseconds(20));
  ASSERT_LT(TimeUntilService(*client, absl::Seconds(20)), absl::Seconds(20));
  server->Shutdown(std::chrono::system_clock::now());
  server.reset();
  EXPECT_GT(TimeUntilService(*client, absl::Milliseconds(1500)),
            absl::Milliseconds(1500));
  server = service.Listen(service.port());
  ASSERT_NE(server, nullptr);
  EXPECT_LT(TimeUntilService(*client, absl::Seconds(20)), absl::Seconds(2));
}

TEST(Client, CallsBackWhoStillWaitsWhenItIsDestroyed) {
  const DeafPort port;
  port.Listen();
  auto client = Connect(port.target(), absl::Seconds(60));
  Client& asked = *client;  // `client` is null while it is destroyed
  int answered = 0;
  int asked_again = 0;
  for (int i = 0; i < 10; ++i) {
    client->ShouldAllowAsync(kAna, [&](const Decision& decision) {
      EXPECT_THAT(decision.error,
                  StatusIs(absl::StatusCode::kCancelled, testing::_));
      ++answered;
      asked.ShouldAllowAsync(kAna, [&](const Decision&) { ++asked_again; });
    });
  }
  EXPECT_LT(TimeOf([&] { client.reset(); }), absl::Seconds(20));
  EXPECT_EQ(answered, 10);
  EXPECT_EQ(asked_again, 10);
}

TEST(Client, TellsTheServiceWhatIsGivenBack) {
  TestService service;
  std::promise<std::string> ticket;
  std::promise<v1::RefundRequest> refund;
  service.on_release = [&](const v1::ReleaseRequest& request) {
    ticket.set_value(request.ticket());
    return grpc::Status::OK;
  };
  service.on_refund = [&](const v1::RefundRequest& request) {
    refund.set_value(request);
    return grpc::Status(grpc::StatusCode::INTERNAL, "broken");
  };
  const auto server = service.Listen();
  const auto client = Connect(service.target(), absl::Seconds(10));
  ASSERT_EQ(client->ShouldAllow(kAna).source, Source::kService);
  client->Release(std::string("\0\xff", 2));
  EXPECT_EQ(ticket.get_future().get(), std::string("\0\xff", 2));
  client->Refund(kAna, 3, absl::FromUnixNanos(1'700'000'000'000'000'001),
                 std::string("\0\xff", 2));
  const v1::RefundRequest refunded = refund.get_future().get();
  EXPECT_EQ(refunded.domain(), "shop");
  EXPECT_EQ(refunded.descriptors(0).entries(0).value(), "ana");
  EXPECT_EQ(refunded.cost(), 3);
  EXPECT_EQ(refunded.decided_at().seconds(), 1'700'000'000);
  EXPECT_EQ(refunded.decided_at().nanos(), 1);
  EXPECT_EQ(refunded.overflow(), std::string("\0\xff", 2));
  const SystemClock clock;
  const int64_t until_ns = clock.NowNs() + 20'000'000'000;
  while (client->stats().give_back_failures == 0 && clock.NowNs() < until_ns) {
    std::this_thread::yield();
  }
  EXPECT_EQ(client->stats().give_back_failures, 1);
  EXPECT_EQ(client->stats().gives_back, 2);
  // The connection carries decisions as before.
  EXPECT_EQ(client->ShouldAllow(kAna).source, Source::kService);
}

TEST(Client, CanBeUsedFromCxx17) {
  const DeafPort port;
  const auto client = Connect(port.target(), absl::Milliseconds(20));
  EXPECT_TRUE(AskFromCxx17(*client));
}

}  // namespace
}  // namespace tollgate::client
