// A real client and a real server: what is pushed, and what becomes of it.
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/client.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/memory_store.h"
#include "tests/limiter/nodes.h"
#include "tests/rpc/fakes.h"

namespace tollgate::client {
namespace {

// A server that can be stopped and started again on its port.
class Service {
 public:
  Service() {
    SetPerUser(limiter_, 2);
    Start();
  }

  void Start() {
    RpcServerOptions options;
    options.listen = absl::StrCat("127.0.0.1:", port_);
    options.policy_interval = absl::Milliseconds(5);
    server_ =
        MakeRpcServer(options, limiter_, store_, clock_, steady_, observer_);
    const absl::StatusOr<int> port = server_->Start();
    ASSERT_TRUE(port.ok()) << port.status();
    port_ = *port;
  }
  void Stop() { server_.reset(); }
  void SetRules(std::vector<Rule> rules) {
    ASSERT_TRUE(limiter_.SetRules(*RuleSet::Create(std::move(rules))).ok());
  }

  [[nodiscard]] std::unique_ptr<Client> Connect(
      bool watch_policy = true, std::vector<std::string> domains = {}) const {
    ClientOptions options;
    options.target = absl::StrCat("127.0.0.1:", port_);
    options.watch_policy = watch_policy;
    // A call that the service allows and nobody waits for would count as
    // granted by one side alone.
    options.timeout = absl::Seconds(5);
    options.policy_domains = std::move(domains);
    auto client = Client::Create(options);
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }

 private:
  FakeClock clock_{kStartNs};
  SteadyClock steady_;
  CountingObserver observer_;
  Limiter limiter_{clock_};
  MemoryStore store_{limiter_};
  int port_ = 0;
  std::unique_ptr<RpcServer> server_;
};

template <typename Condition>
bool Eventually(const Condition& condition) {
  const SteadyClock clock;
  const int64_t until_ns = clock.NowNs() + 20'000'000'000;
  while (!condition()) {
    if (clock.NowNs() > until_ns) return false;
    std::this_thread::yield();
  }
  return true;
}

Request Of(const std::string& domain, const std::string& user) {
  return {domain, {{{"user", user}}}};
}

TEST(PolicyStream, AClientKeepsToTheRulesOfAServiceThatIsGone) {
  Service service;
  const auto first = service.Connect();
  const auto second = service.Connect();
  for (const auto& client : {first.get(), second.get()}) {
    ASSERT_TRUE(
        Eventually([&] { return client->stats().policy.clients == 2; }));
    EXPECT_TRUE(client->stats().policy.connected);
  }
  service.Stop();
  ASSERT_TRUE(Eventually([&] { return !first->stats().policy.connected; }));
  // The half of two a second, at the client's own time.
  const Decision allowed = first->ShouldAllow(Of("shop", "ana"));
  EXPECT_TRUE(allowed.allowed);
  EXPECT_EQ(allowed.source, Source::kBackstop);
  ASSERT_EQ(allowed.statuses.size(), 1);
  EXPECT_EQ(allowed.statuses[0].rule, "per-user");
  EXPECT_EQ(allowed.statuses[0].tokens, 1);
  EXPECT_FALSE(first->ShouldAllow(Of("shop", "ana")).allowed);
  EXPECT_TRUE(first->ShouldAllow(Of("shop", "bo")).allowed);
  EXPECT_EQ(first->stats().backstop, 3);
  EXPECT_EQ(first->stats().backstop_refused, 1);
  // A domain without rules is left to the options.
  EXPECT_EQ(first->ShouldAllow(Of("mail", "ana")).statuses[0].rule, "backstop");
}

TEST(PolicyStream, AClientKeepsToRulesOfAnEnvoyFormatFileToo) {
  Service service;
  service.SetRules({NodeAt({{"user", "", false}}, {Written(4)})});
  const auto first = service.Connect();
  const auto second = service.Connect();
  ASSERT_TRUE(Eventually([&] { return first->stats().policy.clients == 2; }));
  service.Stop();
  ASSERT_TRUE(Eventually([&] { return !first->stats().policy.connected; }));
  // The half of four a minute: the next one is there in half a minute.
  for (const bool allowed : {true, true, false}) {
    const Decision decision = first->ShouldAllow(Of("shop", "ana"));
    EXPECT_EQ(decision.allowed, allowed);
    EXPECT_EQ(decision.source, Source::kBackstop);
    ASSERT_EQ(decision.statuses.size(), 1);
    EXPECT_EQ(decision.statuses[0].rule, "user");
    EXPECT_EQ(decision.statuses[0].tokens, 2);
  }
  EXPECT_TRUE(first->ShouldAllow(Of("shop", "bo")).allowed);
  EXPECT_TRUE(first->ShouldAllow({"shop", {{{"host", "a"}}}}).allowed)
      << "no rule applies";
}

TEST(PolicyStream, WhatTheServiceGrantedIsSpentInTheOutage) {
  Service service;
  const auto client = service.Connect();
  ASSERT_TRUE(Eventually([&] { return client->stats().policy.clients == 1; }));
  int granted = 0;
  ASSERT_TRUE(Eventually([&] {
    const Decision decision = client->ShouldAllow(Of("shop", "ana"));
    if (decision.source == Source::kService && decision.allowed) ++granted;
    return granted == 2;
  }));
  service.Stop();
  const Decision decision = client->ShouldAllow(Of("shop", "ana"));
  // Unless a second has passed since, on a machine that is very slow.
  EXPECT_EQ(decision.source, Source::kBackstop);
  EXPECT_LT(decision.statuses[0].remaining, 2);
}

TEST(PolicyStream, OpensAgainWhenTheServiceIsBack) {
  Service service;
  const auto client = service.Connect();
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(Eventually([&] { return client->stats().policy.connected; }));
    service.Stop();
    ASSERT_TRUE(Eventually([&] { return !client->stats().policy.connected; }));
    EXPECT_EQ(client->stats().policy.clients, 1) << "it is kept";
    service.Start();
  }
  EXPECT_GE(client->stats().policy.losses, 3);
}

TEST(PolicyStream, IsNotOpenedByAClientThatDoesNotWantIt) {
  Service service;
  const auto without = service.Connect(/*watch_policy=*/false);
  const auto with = service.Connect();
  ASSERT_TRUE(Eventually([&] { return with->stats().policy.updates > 1; }));
  EXPECT_EQ(with->stats().policy.clients, 1);
  EXPECT_EQ(without->stats().policy.updates, 0);
  EXPECT_EQ(without->stats().policy.age, absl::InfiniteDuration());
}

TEST(PolicyStream, TakesOnlyTheDomainsThatItNames) {
  Service service;
  const auto client = service.Connect(true, {"mail"});
  ASSERT_TRUE(Eventually([&] { return client->stats().policy.updates > 0; }));
  service.Stop();
  EXPECT_EQ(client->ShouldAllow(Of("shop", "ana")).statuses[0].rule,
            "backstop");
}

TEST(PolicyStream, AClientMayGoAtAnyMoment) {
  Service service;
  for (int i = 0; i < 50; ++i) {
    const auto client = service.Connect();
    if (i % 2 == 0) {
      ASSERT_TRUE(
          Eventually([&] { return client->stats().policy.updates > 0; }));
    }
    if (i == 25) service.Stop();
    if (i >= 25) break;
  }
  const auto lost = service.Connect();
  ASSERT_TRUE(Eventually([&] { return lost->stats().policy.losses > 0; }));
}

}  // namespace
}  // namespace tollgate::client
