// One decision of the core, next to the least that any such decision costs: the
// keyed hash, a mutex and one look-up in a hash table, over the same keys in
// the same random order.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/base/clock.h"
#include "server/base/keyed_hash.h"
#include "server/base/mutex.h"
#include "server/limiter/limiter.h"
#include "server/limiter/token_bucket.h"
#include "tests/support/allocation_counter.h"

namespace tollgate {
namespace {

constexpr size_t kKeyBytes = 30;  // as a user's identifier may have

std::string KeyText(uint64_t number) {
  std::string text(kKeyBytes, '0');
  const std::string digits = std::to_string(number);
  text.replace(kKeyBytes - digits.size(), digits.size(), digits);
  return text;
}

// A repeatable random order of keys; each thread has its own part of them. So
// long that a table too large for the caches stays outside them.
class KeySequence {
 public:
  KeySequence(uint64_t keys, int thread, int threads)
      : length_(keys > 100'000 ? 1 << 21 : 1 << 16) {
    const auto number = static_cast<uint64_t>(thread);
    const uint64_t part =
        std::max<uint64_t>(1, keys / static_cast<uint64_t>(threads));
    uint64_t state = 88172645463325252 + number;
    text_.reserve(length_ * kKeyBytes);
    for (size_t i = 0; i < length_; ++i) {
      state ^= state << 13;  // xorshift64 (Marsaglia 2003)
      state ^= state >> 7;
      state ^= state << 17;
      text_ += KeyText(state % part + part * number);
    }
  }
  absl::string_view Next() {
    const size_t at = next_++ & (length_ - 1);
    return {text_.data() + at * kKeyBytes, kKeyBytes};
  }
  [[nodiscard]] size_t length() const { return length_; }

 private:
  const size_t length_;  // a power of two
  std::string text_;
  size_t next_ = 0;
};

Rule MakeRule(std::string name, const std::vector<std::string>& key) {
  Rule rule;
  rule.domain = "shop";
  rule.name = std::move(name);
  for (const std::string& entry : key) {
    rule.key.push_back(KeyPart{{KeySource{entry, std::nullopt}}});
  }
  // So much that nothing is refused and no bucket is ever full.
  rule.limits = {*Limit::Create(1'000'000, absl::Hours(24), 4'294'967'295)};
  rule.algorithm = &TokenBucket();
  return rule;
}

// A limiter whose every key has a bucket, kept for the benchmarks that ask for
// as many keys and rules. The machine's clock, as in the service.
class Filled {
 public:
  Filled(std::vector<Rule> rules, uint64_t keys) : limiter_(clock_) {
    if (!limiter_.SetRules(*RuleSet::Create(std::move(rules))).ok())
      std::abort();
    for (uint64_t i = 0; i < keys; ++i) Decide(KeyText(i));
  }
  Decision Decide(absl::string_view user) {
    const Entry entries[] = {{"user", user}, {"endpoint", "/login"}};
    const Descriptor descriptor(entries);
    return limiter_.Decide(Request{"shop", {&descriptor, 1}});
  }

 private:
  SystemClock clock_;
  Limiter limiter_;
};

// The bare look-up that a decision is compared with.
class BareTable {
 public:
  explicit BareTable(uint64_t keys) {
    table_.reserve(keys);
    for (uint64_t i = 0; i < keys; ++i) Add(KeyText(i));
  }
  uint64_t Add(absl::string_view user) {
    const Fingerprint fingerprint = KeyedHash(key_, user);
    MutexLock lock(mutex_);
    return ++table_[fingerprint];
  }

 private:
  const HashKey key_ = RandomHashKey();
  Mutex mutex_;
  absl::flat_hash_map<Fingerprint, uint64_t> table_ ABSL_GUARDED_BY(mutex_);
};

// The one instance of T for these arguments, made by the first thread that
// asks; a table of another size is dropped first, so that one at a time is in
// memory.
template <typename T, typename Make>
std::shared_ptr<T> Shared(int64_t id, const Make& make) {
  static Mutex mutex;
  static std::pair<int64_t, std::shared_ptr<T>> kept;
  MutexLock lock(mutex);
  if (kept.second == nullptr || kept.first != id) {
    kept.second = nullptr;
    kept = {id, make()};
  }
  return kept.second;
}

// Runs `once(key)` over this thread's keys and counts its allocations.
template <typename Once>
void Measure(benchmark::State& state, uint64_t keys, const Once& once) {
  KeySequence sequence(keys, state.thread_index(), state.threads());
  for (size_t i = 0; i < sequence.length(); ++i) once(sequence.Next());
  const uint64_t before = AllocationsOfThisThread();
  for (auto _ : state) once(sequence.Next());
  const uint64_t allocated = AllocationsOfThisThread() - before;
  state.counters["allocs"] = benchmark::Counter(
      static_cast<double>(allocated), benchmark::Counter::kAvgIterations);
}

void BM_BareLookup(benchmark::State& state) {
  const auto keys = static_cast<uint64_t>(state.range(0));
  const auto table = Shared<BareTable>(
      state.range(0), [&] { return std::make_shared<BareTable>(keys); });
  Measure(state, keys, [&](absl::string_view key) {
    benchmark::DoNotOptimize(table->Add(key));
  });
}

void BM_Decide(benchmark::State& state) {
  const auto keys = static_cast<uint64_t>(state.range(0));
  const auto limiter = Shared<Filled>(state.range(0), [&] {
    return std::make_shared<Filled>(
        std::vector<Rule>{MakeRule("per-user", {"user"})}, keys);
  });
  Measure(state, keys, [&](absl::string_view key) {
    benchmark::DoNotOptimize(limiter->Decide(key).outcome);
  });
}

void BM_DecideHotKey(benchmark::State& state) {
  const auto limiter = Shared<Filled>(-1, [] {
    return std::make_shared<Filled>(
        std::vector<Rule>{MakeRule("per-user", {"user"})}, 1);
  });
  const std::string hot = KeyText(0);
  Measure(state, 1, [&](absl::string_view) {
    benchmark::DoNotOptimize(limiter->Decide(hot).outcome);
  });
}

// Several rules that all apply: by user, by endpoint, for all.
void BM_DecideRules(benchmark::State& state) {
  const int64_t rules = state.range(0);
  const auto limiter = Shared<Filled>(-10 - rules, [&] {
    std::vector<Rule> all = {MakeRule("user", {"user"}),
                             MakeRule("endpoint", {"endpoint"}),
                             MakeRule("all", {})};
    all.resize(static_cast<size_t>(rules));
    return std::make_shared<Filled>(std::move(all), 1000);
  });
  Measure(state, 1000, [&](absl::string_view key) {
    benchmark::DoNotOptimize(limiter->Decide(key).outcome);
  });
}

// One rule that applies among many for other endpoints.
void BM_DecideAmongRules(benchmark::State& state) {
  const int64_t rules = state.range(0);
  const auto limiter = Shared<Filled>(-100 - rules, [&] {
    std::vector<Rule> all;
    for (int64_t i = 0; i < rules; ++i) {
      all.push_back(MakeRule("r" + std::to_string(i), {"user"}));
      all.back().match = {
          {"endpoint",
           {Pattern::Exact(i == 0 ? "/login" : "/" + std::to_string(i))}}};
    }
    return std::make_shared<Filled>(std::move(all), 1000);
  });
  Measure(state, 1000, [&](absl::string_view key) {
    benchmark::DoNotOptimize(limiter->Decide(key).outcome);
  });
}

// As many rules as asked for, each with a list of three values and a wildcard;
// every tenth asks for a path below another one.
std::vector<Rule> WithPatterns(int64_t rules) {
  std::vector<Rule> all;
  for (int64_t i = 0; i < rules; ++i) {
    const std::string number = std::to_string(i);
    all.push_back(MakeRule("r" + number, {"user"}));
    Condition endpoint{"endpoint", {}};
    if (i % 10 == 0) {
      endpoint.any_of.push_back(Pattern::Parse("/" + number + "/*"));
    } else {
      endpoint.any_of.push_back(
          Pattern::Exact(i == 1 ? "/login" : "/" + number));
      endpoint.any_of.push_back(Pattern::Exact("/v1/" + number));
      endpoint.any_of.push_back(Pattern::Exact("/v2/" + number));
    }
    all.back().match = {std::move(endpoint)};
  }
  return all;
}

void BM_DecideAmongPatterns(benchmark::State& state) {
  const int64_t rules = state.range(0);
  const auto limiter = Shared<Filled>(-1'000'000 - rules, [&] {
    return std::make_shared<Filled>(WithPatterns(rules), 1000);
  });
  Measure(state, 1000, [&](absl::string_view key) {
    benchmark::DoNotOptimize(limiter->Decide(key).outcome);
  });
}

void BM_LoadRules(benchmark::State& state) {
  const std::vector<Rule> rules = WithPatterns(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(RuleSet::Create(rules).ok());
  }
}

// TOLLGATE_BENCH_KEYS replaces the largest number of keys, for a quick run.
int64_t MostKeys() {
  const char* const given = std::getenv("TOLLGATE_BENCH_KEYS");
  return given != nullptr ? std::atoll(given) : 10'000'000;
}

void WithKeysAndThreads(benchmark::internal::Benchmark* bench) {
  for (const int64_t keys : {int64_t{1}, int64_t{1000}, MostKeys()}) {
    bench->Arg(keys);
  }
  bench->ThreadRange(1, 2)->UseRealTime();
}

BENCHMARK(BM_BareLookup)->Apply(WithKeysAndThreads);
BENCHMARK(BM_Decide)->Apply(WithKeysAndThreads);
BENCHMARK(BM_DecideHotKey)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(BM_DecideRules)->Arg(1)->Arg(3);
BENCHMARK(BM_DecideAmongRules)->Arg(10)->Arg(10'000);
BENCHMARK(BM_DecideAmongPatterns)->Arg(10)->Arg(10'000);
BENCHMARK(BM_LoadRules)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tollgate

BENCHMARK_MAIN();
