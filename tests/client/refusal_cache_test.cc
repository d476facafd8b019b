#include "client/refusal_cache.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/fake_transport.h"

namespace tollgate::client {
namespace {

constexpr HashKey kKey{{1, 2, 3}};

Decision RefusedFor(absl::Duration wait) {
  Decision decision;
  decision.allowed = false;
  decision.outcome = Outcome::kRefused;
  decision.retry_after = wait;
  decision.stands_for = wait;
  RuleStatus& status = decision.statuses.emplace_back();
  status.rule = "per-user";
  status.outcome = Outcome::kRefused;
  status.retry_after = wait;
  status.reset_after = 2 * wait;
  return decision;
}

Request User(const std::string& name) { return {"shop", {{{"user", name}}}}; }

struct Cache : RefusalCache {
  explicit Cache(absl::Duration ttl = absl::Seconds(1))
      : RefusalCache(ttl, kKey) {}
  void Keep(const Request& request, const Decision& decision,
            int64_t asked_ns = kStartNs, int64_t received_ns = kStartNs) {
    Remember(KeyOf(request, 0), request.cost, decision, asked_ns, received_ns);
  }
  std::optional<Decision> Ask(const Request& request, int64_t now_ns) {
    return Find(KeyOf(request, 0), request.cost, now_ns);
  }
};

TEST(RefusalCache, AnswersUntilTheRefusalEndsAndNotAtThatInstant) {
  Cache cache;
  cache.Keep(User("ana"), RefusedFor(absl::Milliseconds(300)));
  EXPECT_TRUE(cache.Ask(User("ana"), kStartNs + 300 * kMs - 1).has_value());
  EXPECT_FALSE(cache.Ask(User("ana"), kStartNs + 300 * kMs).has_value());
}

TEST(RefusalCache, AnswersUntilTheTtlEndsThoughTheRefusalStandsLonger) {
  Cache cache;
  cache.Keep(User("ana"), RefusedFor(absl::Hours(1)));
  const auto last = cache.Ask(User("ana"), kStartNs + 1000 * kMs - 1);
  ASSERT_TRUE(last.has_value());
  EXPECT_GT(last->retry_after, absl::Minutes(59));
  EXPECT_FALSE(cache.Ask(User("ana"), kStartNs + 1000 * kMs).has_value());
}

TEST(RefusalCache, ItsWaitsCountDown) {
  Cache cache;
  cache.Keep(User("ana"), RefusedFor(absl::Milliseconds(300)));
  const auto refusal = cache.Ask(User("ana"), kStartNs + 100 * kMs);
  ASSERT_TRUE(refusal.has_value());
  EXPECT_FALSE(refusal->allowed);
  EXPECT_EQ(refusal->outcome, Outcome::kRefused);
  EXPECT_EQ(refusal->source, Source::kRefusalCache);
  EXPECT_EQ(refusal->retry_after, absl::Milliseconds(200));
  ASSERT_EQ(refusal->statuses.size(), 1);
  EXPECT_EQ(refusal->statuses[0].rule, "per-user");
  EXPECT_EQ(refusal->statuses[0].retry_after, absl::Milliseconds(200));
  EXPECT_EQ(refusal->statuses[0].reset_after, absl::Milliseconds(500));
}

TEST(RefusalCache, StandsFromTheQuestionAndCountsDownFromTheAnswer) {
  Cache cache;
  cache.Keep(User("ana"), RefusedFor(absl::Milliseconds(300)), kStartNs,
             kStartNs + 40 * kMs);
  const auto refusal = cache.Ask(User("ana"), kStartNs + 300 * kMs - 1);
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->retry_after,
            absl::Milliseconds(40) + absl::Nanoseconds(1));
  EXPECT_FALSE(cache.Ask(User("ana"), kStartNs + 300 * kMs).has_value());
}

TEST(RefusalCache, KeepsNothingThatWasOverWhenTheAnswerCame) {
  Cache cache;
  cache.Keep(User("ana"), RefusedFor(absl::Milliseconds(5)), kStartNs,
             kStartNs + 5 * kMs);
  EXPECT_FALSE(cache.Ask(User("ana"), kStartNs).has_value());
}

TEST(RefusalCache, AnswersTheSameRequestAlone) {
  Cache cache;
  cache.Keep({"shop", {{{"a", "bc"}}}, 2}, RefusedFor(absl::Seconds(1)));
  for (const Request& other : std::vector<Request>{
           {"shop", {{{"a", "bc"}}}, 1},   // might pass
           {"shop", {{{"a", "bc"}}}, 3},   // waits longer
           {"shop", {{{"a", "bc"}}}, 0},   // a peek wants to know
           {"store", {{{"a", "bc"}}}, 2},  // other rules
           {"shop", {{{"ab", "c"}}}, 2},   // the same bytes, cut elsewhere
           {"shop", {{{"a", "bc"}, {"", ""}}}, 2},
           {"shop", {{{"a", "bc"}}, {}}, 2},
       }) {
    EXPECT_FALSE(cache.Ask(other, kStartNs).has_value());
  }
  EXPECT_TRUE(cache.Ask({"shop", {{{"a", "bc"}}}, 2}, kStartNs).has_value());
}

TEST(RefusalCache, KeepsSeveralCostsOfOneRequestAndForgetsThemTogether) {
  Cache cache;
  Request one = User("ana");
  Request five = User("ana");
  five.cost = 5;
  cache.Keep(one, RefusedFor(absl::Milliseconds(100)));
  cache.Keep(five, RefusedFor(absl::Milliseconds(500)));
  EXPECT_EQ(cache.Ask(one, kStartNs)->retry_after, absl::Milliseconds(100));
  EXPECT_EQ(cache.Ask(five, kStartNs)->retry_after, absl::Milliseconds(500));
  cache.Forget(cache.KeyOf(User("eve"), 0));
  EXPECT_TRUE(cache.Ask(one, kStartNs).has_value());
  cache.Forget(cache.KeyOf(one, 0));
  EXPECT_FALSE(cache.Ask(one, kStartNs).has_value());
  EXPECT_FALSE(cache.Ask(five, kStartNs).has_value());
}

TEST(RefusalCache, ALaterRefusalReplacesTheOneBefore) {
  Cache cache;
  cache.Keep(User("ana"), RefusedFor(absl::Milliseconds(100)));
  cache.Keep(User("ana"), RefusedFor(absl::Milliseconds(700)));
  EXPECT_TRUE(cache.Ask(User("ana"), kStartNs + 699 * kMs).has_value());
}

TEST(RefusalCache, KeepsTheImpossibleForTheTtl) {
  Cache cache;
  Decision impossible = RefusedFor(absl::ZeroDuration());
  impossible.outcome = Outcome::kImpossible;
  cache.Keep(User("ana"), impossible);
  const auto kept = cache.Ask(User("ana"), kStartNs + 1000 * kMs - 1);
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(kept->outcome, Outcome::kImpossible);
  EXPECT_FALSE(cache.Ask(User("ana"), kStartNs + 1000 * kMs).has_value());
}

TEST(RefusalCache, KeepsNoRefusalThatTheServiceWantsToBeAskedAbout) {
  Cache cache;
  Decision decision = RefusedFor(absl::Seconds(1));
  decision.stands_for = absl::ZeroDuration();
  cache.Keep(User("ana"), decision);
  EXPECT_FALSE(cache.Ask(User("ana"), kStartNs).has_value());
}

TEST(RefusalCache, KeepsNothingThatIsAllowedAndNoPeek) {
  Cache cache;
  cache.Keep(User("ana"), Decision());
  EXPECT_FALSE(cache.Ask(User("ana"), kStartNs).has_value());
  Request peek = User("ana");
  peek.cost = 0;
  cache.Keep(peek, RefusedFor(absl::Seconds(1)));
  EXPECT_FALSE(cache.Ask(peek, kStartNs).has_value());
}

TEST(RefusalCache, KeepsTheRulesThatRefusedAndNotMoreThanEight) {
  Cache cache;
  Decision decision = RefusedFor(absl::Seconds(1));
  const RuleStatus refused = decision.statuses[0];
  decision.statuses.clear();
  RuleStatus allowed = refused;
  allowed.outcome = Outcome::kAllowed;
  decision.statuses.push_back(allowed);
  RuleStatus shadow = refused;
  shadow.shadow = true;
  decision.statuses.push_back(shadow);
  for (int i = 0; i < 9; ++i) decision.statuses.push_back(refused);
  cache.Keep(User("ana"), decision);
  const auto kept = cache.Ask(User("ana"), kStartNs);
  ASSERT_EQ(kept->statuses.size(), RefusalCache::kStatuses);
  for (const RuleStatus& status : kept->statuses) {
    EXPECT_EQ(status.outcome, Outcome::kRefused);
    EXPECT_FALSE(status.shadow);
  }
}

TEST(RefusalCache, ATtlOfZeroKeepsNothing) {
  Cache cache(absl::ZeroDuration());
  cache.Keep(User("ana"), RefusedFor(absl::Seconds(1)));
  EXPECT_FALSE(cache.Ask(User("ana"), kStartNs).has_value());
}

TEST(RefusalCache, HoldsABoundedNumberAndTheLatestLast) {
  Cache cache;
  constexpr size_t kUsers = 2 * RefusalCache::kEntries;
  for (size_t i = 0; i < kUsers; ++i) {
    const auto now_ns = kStartNs + static_cast<int64_t>(i);
    cache.Keep(User(absl::StrCat(i)), RefusedFor(absl::Seconds(1)), now_ns,
               now_ns);
    ASSERT_TRUE(cache.Ask(User(absl::StrCat(i)), now_ns).has_value());
  }
  size_t kept = 0;
  for (size_t i = 0; i < kUsers; ++i) {
    if (cache.Ask(User(absl::StrCat(i)), kStartNs + kUsers)) ++kept;
  }
  EXPECT_LE(kept, RefusalCache::kEntries);
  EXPECT_GT(kept, RefusalCache::kEntries / 2);
}

TEST(RefusalCacheRace, ThreadsKeepAskAndForgetAtTheSameTime) {
  Cache cache;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const Request request = User(absl::StrCat(i % 7));
        if (i % 11 == t) cache.Forget(cache.KeyOf(request, 0));
        cache.Keep(request, RefusedFor(absl::Milliseconds(1 + i % 7)));
        const auto found = cache.Ask(request, kStartNs);
        if (found && found->retry_after != absl::Milliseconds(1 + i % 7)) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(RefusalCacheInClient, AnswersWithoutAskingUntilTheRefusalEnds) {
  FakeClient fake;
  fake.AnswerAll(absl::OkStatus(), RefusedFor(absl::Milliseconds(400)));
  EXPECT_EQ(fake.core->ShouldAllow(AnaSearches()).source, Source::kService);
  fake.clock->Advance(400 * kMs - 1);
  for (int i = 0; i < 1000; ++i) {
    const Decision decision = fake.core->ShouldAllow(AnaSearches());
    EXPECT_EQ(decision.source, Source::kRefusalCache);
    EXPECT_EQ(decision.retry_after, absl::Nanoseconds(1));
  }
  int called_back = 0;
  fake.core->ShouldAllowAsync(AnaSearches(), [&](const Decision& decision) {
    EXPECT_EQ(decision.source, Source::kRefusalCache);
    ++called_back;
  });
  EXPECT_EQ(called_back, 1);
  EXPECT_EQ(fake.sends(), 1);
  fake.clock->Advance(1);
  EXPECT_EQ(fake.core->ShouldAllow(AnaSearches()).source, Source::kService);
  const ClientStats stats = fake.core->stats();
  EXPECT_EQ(stats.refusal_cache, 1001);
  EXPECT_EQ(stats.service, 2);
}

TEST(RefusalCacheInClient, AsksAgainOnceTheServiceSaysOtherRules) {
  FakeClient fake;
  fake.rules->OnPolicy({"hash-1", 1, std::vector<Rule>()});
  fake.AnswerAll(absl::OkStatus(), RefusedFor(absl::Seconds(1)));
  fake.core->ShouldAllow(AnaSearches());
  fake.rules->OnPolicy({"hash-1", 2, std::nullopt});  // another client came
  EXPECT_EQ(fake.core->ShouldAllow(AnaSearches()).source,
            Source::kRefusalCache);
  fake.rules->OnPolicy({"hash-2", 2, std::vector<Rule>()});
  EXPECT_EQ(fake.core->ShouldAllow(AnaSearches()).source, Source::kService);
}

TEST(RefusalCacheInClient, WhatWasAskedUnderOtherRulesDoesNotStand) {
  FakeClient fake;
  fake.rules->OnPolicy({"hash-1", 1, std::vector<Rule>()});
  fake.core->ShouldAllowAsync(AnaSearches(), [](const Decision&) {});
  fake.rules->OnPolicy({"hash-2", 1, std::vector<Rule>()});
  fake.wire.AnswerOldest(absl::OkStatus(), RefusedFor(absl::Seconds(1)));
  EXPECT_EQ(fake.sends(), 1);
  fake.AnswerAll(absl::OkStatus(), RefusedFor(absl::Seconds(1)));
  EXPECT_EQ(fake.core->ShouldAllow(AnaSearches()).source, Source::kService);
}

TEST(RefusalCacheInClient, AnAbusiveLoopAsksOnceASecond) {
  FakeClient fake;
  fake.AnswerAll(absl::OkStatus(), RefusedFor(absl::Hours(1)));
  for (int i = 0; i < 100'000; ++i) {
    EXPECT_FALSE(fake.core->ShouldAllow(AnaSearches()).allowed);
    fake.clock->Advance(kMs / 10);  // 10,000 a second
  }
  EXPECT_EQ(fake.sends(), 10);
}

TEST(RefusalCacheInClient, ARefusalThatComesByCallbackIsKeptToo) {
  FakeClient fake;
  fake.core->ShouldAllowAsync(AnaSearches(), [](const Decision&) {});
  fake.wire.AnswerOldest(absl::OkStatus(), RefusedFor(absl::Seconds(1)));
  EXPECT_EQ(fake.core->ShouldAllow(AnaSearches()).source,
            Source::kRefusalCache);
}

TEST(RefusalCacheInClient, AsksAgainAfterARefundOfTheSameDescriptors) {
  FakeClient fake;
  fake.AnswerAll(absl::OkStatus(), RefusedFor(absl::Seconds(1)));
  fake.core->ShouldAllow(AnaSearches());
  fake.core->Refund(AnaSearches(), 1, absl::FromUnixNanos(kStartNs), "");
  EXPECT_EQ(fake.core->ShouldAllow(AnaSearches()).source, Source::kService);
}

TEST(RefusalCacheInClient, WhatTheOutagePolicyRefusesIsNotKept) {
  ClientOptions options;
  options.outage_policy = OutagePolicy::kRefuse;
  FakeClient fake(options);
  fake.AnswerAll(absl::UnavailableError("gone"));
  fake.core->ShouldAllow(AnaSearches());
  EXPECT_EQ(fake.core->ShouldAllow(AnaSearches()).source,
            Source::kOutagePolicy);
}

}  // namespace
}  // namespace tollgate::client
