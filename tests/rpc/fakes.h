#ifndef TOLLGATE_TESTS_RPC_FAKES_H_
#define TOLLGATE_TESTS_RPC_FAKES_H_

#include <atomic>
#include <cstdint>
#include <future>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/limiter/limiter.h"
#include "server/rpc/rpc_server.h"
#include "tollgate/v1/rate_limiter.pb.h"

namespace tollgate {

inline constexpr int64_t kStartNs = 1'700'000'000'000'000'000;

// Counts what it is told.
class CountingObserver final : public RpcObserver {
 public:
  void OnArrival() override { ++arrivals; }
  void OnFinish(int64_t) override { ++finishes; }
  void OnExpired() override { ++expired; }
  void OnOverload() override { ++overload; }
  void OnLongQueue() override { ++long_queue; }
  void OnInvalid() override { ++invalid; }
  void OnWatchers(int change) override { watchers += change; }

  std::atomic<int> arrivals{0};
  std::atomic<int> finishes{0};
  std::atomic<int> expired{0};
  std::atomic<int> overload{0};
  std::atomic<int> long_queue{0};
  std::atomic<int> invalid{0};
  std::atomic<int> watchers{0};
};

// Once armed, holds every thread that has decided until it is opened.
class Gate final : public DecisionObserver {
 public:
  void OnRules(const RuleSet&) override {}
  void OnDecision(const Decision&) override {
    if (!armed_.load()) return;
    if (!entered_flag_.exchange(true)) entered_.set_value();
    open_future_.wait();
  }

  void Arm() { armed_ = true; }
  // Returns when a thread stands in the gate.
  void WaitUntilEntered() { entered_.get_future().wait(); }
  void Open() {
    armed_ = false;
    open_.set_value();
  }

 private:
  std::atomic<bool> armed_{false};
  std::atomic<bool> entered_flag_{false};
  std::promise<void> entered_;
  std::promise<void> open_;
  std::shared_future<void> open_future_ = open_.get_future().share();
};

// Allows `tokens` a second for each user of the shop.
inline void SetPerUser(Limiter& limiter, uint64_t tokens) {
  Rule rule;
  rule.domain = "shop";
  rule.name = "per-user";
  rule.key = {KeyPart{{KeySource{"user"}}}};
  rule.limits = {Limit::Create(tokens, absl::Seconds(1)).value()};
  rule.algorithm = FindAlgorithm("token_bucket");
  absl::StatusOr<RuleSet> set = RuleSet::Create({rule});
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_TRUE(limiter.SetRules(*std::move(set)).ok());
}

// Allows each user of the shop `slots` requests at once, for 30 s each.
inline void SetExports(Limiter& limiter, uint64_t slots) {
  Rule rule;
  rule.domain = "shop";
  rule.name = "export";
  rule.key = {KeyPart{{KeySource{"user", {}}}}};
  rule.limits = {Limit::Create(slots, absl::Seconds(30)).value()};
  rule.algorithm = FindAlgorithm("concurrency");
  absl::StatusOr<RuleSet> set = RuleSet::Create({rule});
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_TRUE(limiter.SetRules(*std::move(set)).ok());
}

inline v1::ShouldAllowRequest MakeRequest(
    const std::string& domain,
    std::initializer_list<std::pair<std::string, std::string>> entries) {
  v1::ShouldAllowRequest request;
  request.set_domain(domain);
  v1::Descriptor& descriptor = *request.add_descriptors();
  for (const auto& [key, value] : entries) {
    v1::Entry& entry = *descriptor.add_entries();
    entry.set_key(key);
    entry.set_value(value);
  }
  return request;
}

// A request of that user to the shop.
inline v1::ShouldAllowRequest UserRequest(const std::string& user) {
  return MakeRequest("shop", {{"user", user}});
}

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_RPC_FAKES_H_
