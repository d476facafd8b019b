// A limiter's buckets in another limiter, as after a restart.
#include "server/limiter/restorer.h"

#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"

namespace tollgate {
namespace {

using Outcome = Restorer::Outcome;

const HashKey kKey = {{1, 2, 3}};

struct Life {
  Life(int64_t now_ns, std::vector<Rule> rules,
       size_t max_buckets = LimiterOptions().max_buckets)
      : clock(now_ns),
        limiter(clock, LimiterOptions{.max_buckets = max_buckets,
                                      .stripes = 4,
                                      .hash_key = kKey}) {
    SetRules(limiter, std::move(rules));
  }

  // Takes over what `before` has; how many buckets came out how.
  std::map<Outcome, int> TakeOver(Life& before, int* unknown = nullptr) {
    std::map<Outcome, int> outcomes;
    Restorer restorer = limiter.MakeRestorer();
    BucketTable::Cursor cursor;
    SavedBuckets saved;
    while (before.limiter.Save(cursor, before.clock.NowNs(), saved)) {
      absl::Span<const int64_t> numbers = saved.numbers;
      for (const SavedBuckets::Entry& entry : saved.entries) {
        const LimitVersion& version =
            before.limiter.registry().Version(entry.limit_id);
        const auto target = restorer.Find(
            {version.rule->domain->name, version.rule->name, version.slot,
             version.algorithm->name(), version.limit});
        if (target.has_value()) {
          ++outcomes[restorer.Restore(
              *target, entry.fingerprint,
              SavedState{numbers.subspan(0, entry.count), saved.at_ns})];
        } else if (unknown != nullptr) {
          ++*unknown;
        }
        numbers.remove_prefix(entry.count);
      }
    }
    return outcomes;
  }
  // How many of cost 1 pass now.
  int Drain(const std::vector<Entry>& entries) {
    int count = 0;
    while (count < 1000 && AskFor(limiter, entries).allowed()) ++count;
    return count;
  }

  FakeClock clock;
  Limiter limiter;
};

Rule PerUser(const Limit& limit) { return MakeRule("user", {"user"}, {limit}); }

const std::vector<Entry> kAna = {{"user", "ana"}};
const std::vector<Entry> kBob = {{"user", "bob"}};

TEST(Restorer, KeepsWhatIsSpent) {
  Life before(kStart, {PerUser(PerHour(10))});
  for (int i = 0; i < 7; ++i) AskFor(before.limiter, kAna);
  Life after(kStart, {PerUser(PerHour(10))});

  EXPECT_EQ(after.TakeOver(before),
            (std::map<Outcome, int>{{Outcome::kRestored, 1}}));
  EXPECT_EQ(after.limiter.bucket_count(), 1u);
  EXPECT_EQ(after.Drain(kAna), 3);
  EXPECT_EQ(after.Drain(kBob), 10);
}

TEST(Restorer, TimeInBetweenCountsAsRefill) {
  Life before(kStart, {PerUser(PerHour(60))});
  before.Drain(kAna);
  Life after(kStart + 120 * kSecond, {PerUser(PerHour(60))});
  after.TakeOver(before);

  EXPECT_EQ(after.Drain(kAna), 2);
}

TEST(Restorer, LeavesOutWhatIsFullByNow) {
  Life before(kStart, {PerUser(PerHour(60))});
  AskFor(before.limiter, kAna);
  Life after(kStart + 60 * kSecond, {PerUser(PerHour(60))});

  EXPECT_EQ(after.TakeOver(before),
            (std::map<Outcome, int>{{Outcome::kFull, 1}}));
  EXPECT_EQ(after.limiter.bucket_count(), 0u);
}

TEST(Restorer, SpentStaysSpentUnderAnotherLimit) {
  Life before(kStart, {PerUser(PerHour(10))});
  for (int i = 0; i < 7; ++i) AskFor(before.limiter, kAna);
  Life higher(kStart, {PerUser(PerHour(20))});
  higher.TakeOver(before);
  Life lower(kStart, {PerUser(PerHour(5))});
  lower.TakeOver(before);

  EXPECT_EQ(higher.Drain(kAna), 13);
  EXPECT_EQ(lower.Drain(kAna), 0);
}

TEST(Restorer, CarriesOverAReloadThatTheBucketHasNotSeen) {
  Life before(kStart, {PerUser(PerHour(10))});
  for (int i = 0; i < 7; ++i) AskFor(before.limiter, kAna);
  SetRules(before.limiter, {PerUser(PerHour(20))});
  Life after(kStart, {PerUser(PerHour(20))});
  after.TakeOver(before);

  EXPECT_EQ(after.Drain(kAna), 13);
}

TEST(Restorer, SpentStaysSpentWhereATierIsGone) {
  Rule tiers = PerUser(PerHour(1));
  tiers.limits.clear();
  tiers.tier = Tier{"plan", {{"free", {PerHour(10)}}}, "free"};
  Life before(kStart, {tiers});
  for (int i = 0; i < 7; ++i) AskFor(before.limiter, kAna);
  Life after(kStart, {PerUser(PerHour(10))});
  after.TakeOver(before);

  EXPECT_EQ(after.Drain(kAna), 3);
}

TEST(Restorer, KnowsNothingOfOtherRules) {
  Rule log = PerUser(PerHour(10));
  log.algorithm = FindAlgorithm("sliding_log");
  Rule other = PerUser(PerHour(10));
  other.name = "other";
  Rule elsewhere = PerUser(PerHour(10));
  elsewhere.domain = "elsewhere";
  Rule list;
  list.domain = "shop";
  list.name = "user";
  list.unlimited = true;
  Rule off = PerUser(PerHour(10));
  off.mode = Mode::kOff;
  Life before(kStart, {PerUser(PerHour(10))});
  before.Drain(kAna);
  for (const Rule& rule : {log, other, elsewhere, list, off}) {
    Life after(kStart, {rule});
    int unknown = 0;
    EXPECT_TRUE(after.TakeOver(before, &unknown).empty());
    EXPECT_EQ(unknown, 1);
    EXPECT_EQ(after.limiter.bucket_count(), 0u);
  }
}

TEST(Restorer, KeepsAPenalty) {
  Rule rule = PerUser(PerSecond(1));
  rule.penalty = PenaltyRule{Holding(PerHour(2), absl::Minutes(10))};
  Life before(kStart, {rule});
  for (int i = 0; i < 5; ++i) AskFor(before.limiter, kAna);
  Life after(kStart + 60 * kSecond, {rule});
  after.TakeOver(before);
  Life without(kStart + 60 * kSecond, {PerUser(PerSecond(1))});
  int unknown = 0;
  without.TakeOver(before, &unknown);

  EXPECT_EQ(AskFor(after.limiter, kAna).retry_after_ns, 9 * 60 * kSecond);
  EXPECT_EQ(unknown, 1);
}

TEST(Restorer, LetsSlotsBeReleased) {
  Rule rule = PerUser(PerHour(2));
  rule.algorithm = FindAlgorithm("concurrency");
  Life before(kStart, {rule});
  const Decision decision = AskFor(before.limiter, kAna);
  AskFor(before.limiter, kAna);
  Life after(kStart, {rule});
  after.TakeOver(before);

  EXPECT_FALSE(AskFor(after.limiter, kAna).allowed());
  EXPECT_TRUE(after.limiter.Release(decision.slots[0]));
  EXPECT_EQ(after.Drain(kAna), 1);
}

TEST(Restorer, HoldsNoSlotLongerThanTheRuleSays) {
  Rule rule = PerUser(PerHour(1));
  rule.algorithm = FindAlgorithm("concurrency");
  Life before(kStart, {rule});
  AskFor(before.limiter, kAna);
  rule.limits = {PerMinute(1)};
  Life after(kStart, {rule});
  after.TakeOver(before);

  EXPECT_EQ(AskFor(after.limiter, kAna).retry_after_ns, 60 * kSecond);
}

TEST(Restorer, AFingerprintUnderAnotherAlgorithmIsUntouched) {
  Rule log = MakeRule("log", {"user"}, {PerHour(10)});
  log.algorithm = FindAlgorithm("sliding_log");
  const Rule bucket = PerUser(PerHour(10));
  for (const bool first : {true, false}) {
    Life before(kStart, {bucket, log});
    AskFor(before.limiter, kAna);
    Life after(kStart, {bucket, log});
    // Each bucket under the limit of the other, as a file might lie.
    Restorer restorer = after.limiter.MakeRestorer();
    const auto target = restorer.Find(
        {"shop", first ? "log" : "user",
         "0:", first ? "sliding_log" : "token_bucket", PerHour(10)});
    ASSERT_TRUE(target.has_value());
    const std::vector<int64_t> numbers =
        first ? std::vector<int64_t>{-1, 10} : std::vector<int64_t>{kSecond, 0};
    BucketTable::Cursor cursor;
    SavedBuckets saved;
    while (before.limiter.Save(cursor, kStart, saved)) {
      for (const SavedBuckets::Entry& entry : saved.entries) {
        EXPECT_EQ(restorer.Restore(*target, entry.fingerprint,
                                   SavedState{numbers, kStart}),
                  Outcome::kRestored);
      }
    }
    EXPECT_LE(after.Drain(kAna), 10);
    EXPECT_FALSE(AskFor(after.limiter, kAna, 0).allowed());
  }
}

TEST(Restorer, ReplacesABucketThatIsThere) {
  Rule rule = PerUser(PerHour(2));
  rule.algorithm = FindAlgorithm("sliding_log");
  Life before(kStart, {rule});
  AskFor(before.limiter, kAna);
  Life after(kStart, {rule});
  after.TakeOver(before);
  after.TakeOver(before);

  EXPECT_EQ(after.limiter.bucket_count(), 1u);
  EXPECT_EQ(after.Drain(kAna), 1);
}

TEST(Restorer, KeepsWhatIsSpentOfABucketThatKeysShare) {
  Life before(kStart, {PerUser(PerHour(10))}, /*max_buckets=*/1);
  AskFor(before.limiter, kAna);
  for (int i = 0; i < 7; ++i) AskFor(before.limiter, kBob);
  Life after(kStart, {PerUser(PerHour(10))}, /*max_buckets=*/1);

  EXPECT_EQ(after.TakeOver(before),
            (std::map<Outcome, int>{{Outcome::kRestored, 2}}));
  EXPECT_EQ(after.limiter.bucket_count(), 1u);
  EXPECT_EQ(after.Drain(kBob), 3);
  EXPECT_EQ(after.Drain(kAna), 9);
}

TEST(Restorer, RestoresNoMoreBucketsThanThereMayBe) {
  Life before(kStart, {PerUser(PerHour(10))});
  AskFor(before.limiter, kAna);
  AskFor(before.limiter, kBob);
  Life after(kStart, {PerUser(PerHour(10))}, /*max_buckets=*/1);

  EXPECT_EQ(
      after.TakeOver(before),
      (std::map<Outcome, int>{{Outcome::kRestored, 1}, {Outcome::kNoRoom, 1}}));
  EXPECT_EQ(after.limiter.bucket_count(), 1u);
}

TEST(Restorer, MakesNoSharedBucketButThoseThatRulesHave) {
  Life after(kStart, {PerUser(PerHour(10))});
  Restorer restorer = after.limiter.MakeRestorer();
  const auto target = restorer.Find(
      {"shop", "user", "overflow 0:", "token_bucket", PerHour(10)});
  ASSERT_TRUE(target.has_value());
  const std::vector<int64_t> numbers{kSecond, 0};

  EXPECT_EQ(restorer.Restore(*target, {1, 2}, SavedState{numbers, kStart}),
            Outcome::kInvalid);
  Fingerprint shared = *target->shared;
  EXPECT_EQ(restorer.Restore(*target, shared, SavedState{numbers, kStart}),
            Outcome::kRestored);
  shared.lo += kMaxLimits;
  EXPECT_EQ(restorer.Restore(*target, shared, SavedState{numbers, kStart}),
            Outcome::kInvalid);
}

TEST(Restorer, BindsOnlySoManyLimitsThatNoRuleHas) {
  Life after(kStart, {PerUser(PerHour(2))});
  Restorer restorer = after.limiter.MakeRestorer();
  int found = 0;
  for (int i = 0; i < 70'000; ++i) {
    const std::string slot = "tier " + std::to_string(i);
    if (restorer.Find({"shop", "user", slot, "token_bucket", PerHour(1)})) {
      ++found;
    }
  }
  EXPECT_EQ(found, 65'536);
  EXPECT_TRUE(
      restorer.Find({"shop", "user", "0:", "token_bucket", PerHour(1)}));
}

}  // namespace
}  // namespace tollgate
