// Decisions a second with buckets in Redis, inside the store and through a
// whole server, next to redis-benchmark with a one-key script on the same
// Redis: store_bench SERVER_BINARY [DECISIONS]. tests/bench/store_run builds
// and runs it.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "server/limiter/rule_set.h"
#include "server/redis/redis_options.h"
#include "server/redis/redis_runner.h"
#include "server/redis/redis_store.h"
#include "server/redis/run_counters.h"
#include "spdlog/spdlog.h"
#include "tests/bench/loops.h"
#include "tests/bench/redis_benchmark.h"
#include "tests/support/process.h"
#include "tests/support/redis_process.h"
#include "tests/support/temp_files.h"

namespace tollgate::redis {
namespace {

constexpr const char* kEntries[] = {"user", "ip", "page"};

std::string ValueOf(int64_t number, int rule) {
  return absl::StrCat((number * 7919 + rule) % kBenchmarkKeys);
}

// A store in this process, under so many rules that apply to every request.
class Inside {
 public:
  Inside(const RedisProcess& redis, int rules)
      : rules_(rules), limiter_(wall_, {}) {
    std::vector<Rule> all;
    for (int i = 0; i < rules; ++i) {
      Rule& rule = all.emplace_back();
      rule.domain = "shop";
      rule.name = kEntries[i];
      rule.key = {KeyPart{{KeySource{kEntries[i]}}}};
      rule.limits = {Limit::Create(1000, absl::Seconds(1)).value()};
      rule.algorithm = FindAlgorithm("token_bucket");
    }
    auto set = RuleSet::Create(std::move(all));
    EXPECT_TRUE(limiter_.SetRules(*std::move(set)).ok());
    RedisOptions options = *ParseRedisUrl(redis.url());
    options.stall = absl::Seconds(20);
    auto runner = MakeRedisRunner(options, StoreScripts(), steady_, counters_);
    EXPECT_TRUE(runner.ok()) << runner.status();
    const ScriptRunner& made = **runner;
    store_ = MakeRedisStore({.timeout = absl::Seconds(20)}, limiter_,
                            *std::move(runner), steady_);
    EXPECT_TRUE(WaitUntil([&made] { return made.is_ready(); }));
  }

  void Start(int64_t number, std::function<void(bool)> done) {
    struct Call {
      std::vector<std::string> values;
      std::vector<Entry> entries;
      std::vector<Descriptor> descriptors;
    };
    auto call = std::make_shared<Call>();
    for (int i = 0; i < rules_; ++i) call->values.push_back(ValueOf(number, i));
    for (int i = 0; i < rules_; ++i) {
      call->entries.push_back({kEntries[i], call->values[i]});
    }
    call->descriptors.emplace_back(call->entries);
    const Request request{"shop", call->descriptors, 1};
    store_->Decide(
        request, [call, done = std::move(done)](const Decision& decision) {
          done(std::none_of(decision.statuses.begin(), decision.statuses.end(),
                            [](const RuleStatus& s) { return s.outage; }));
        });
  }

 private:
  const int rules_;
  const SystemClock wall_;
  const SteadyClock steady_;
  RunCounters counters_;
  Limiter limiter_;
  std::unique_ptr<BucketStore> store_;
};

// A server of its own, and two clients of it, which send what is pending
// together in batches.
class ThroughAServer {
 public:
  ThroughAServer(const std::string& binary, const RedisProcess& redis,
                 int rules)
      : rules_(rules),
        server_(binary, {"--rules=" + files_.Write("rules.yaml", Yaml(rules)),
                         "--listen=127.0.0.1:0", "--http-listen=off",
                         "--store=" + redis.url(), "--store-timeout=10s",
                         "--port-file=" + files_.Path("ports")}) {
    EXPECT_TRUE(server_.WaitForLine("ready")) << server_.log();
    client::ClientOptions options;
    options.target =
        absl::StrCat("127.0.0.1:", PortFrom(files_.Read("ports"), "grpc"));
    options.timeout = absl::Seconds(20);
    options.max_in_flight = 8192;
    options.refusal_cache_ttl = absl::ZeroDuration();
    for (auto& client : clients_) {
      auto made = client::Client::Create(options);
      EXPECT_TRUE(made.ok()) << made.status();
      client = *std::move(made);
    }
    EXPECT_TRUE(WaitUntil([this] { return StoreDecides(); }));
  }

  void Start(int64_t number, std::function<void(bool)> done) {
    client::Request request{"shop", {{}}, 1};
    for (int i = 0; i < rules_; ++i) {
      request.descriptors[0].push_back({kEntries[i], ValueOf(number, i)});
    }
    clients_[static_cast<size_t>(number) % 2]->ShouldAllowAsync(
        request, [done = std::move(done)](const client::Decision& decision) {
          done(IsOfTheStore(decision));
        });
  }

 private:
  static std::string Yaml(int rules) {
    std::string text = "domain: shop\nrules:\n";
    for (int i = 0; i < rules; ++i) {
      absl::StrAppend(&text, "  - {name: ", kEntries[i], ", key: [",
                      kEntries[i], "], limit: 1000/second}\n");
    }
    return text;
  }
  static bool IsOfTheStore(const client::Decision& decision) {
    return decision.source == client::Source::kService &&
           std::none_of(decision.statuses.begin(), decision.statuses.end(),
                        [](const auto& status) { return status.outage; });
  }
  bool StoreDecides() {
    return IsOfTheStore(clients_[0]->ShouldAllow({"shop", {{{"user", "0"}}}}));
  }

  const int rules_;
  TempFiles files_;
  Process server_;
  std::unique_ptr<client::Client> clients_[2];
};

void Print(const std::string& what, double value, const char* format) {
  std::printf("%-52s ", what.c_str());
  std::printf(format, value);
  std::printf("\n");
}

// The best of some rounds, since whatever else the machine does takes from it.
double Best(const StartFn& ask, const Clock& clock, int64_t count,
            int64_t& failures) {
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    for (const int window : {256, 1024}) {
      ClosedLoop loop(ask, window, count);
      best = std::max(best, loop.Measure(clock));
      failures += loop.failures();
    }
  }
  return best;
}

int Run(const std::string& binary, int64_t count) {
  spdlog::set_level(spdlog::level::warn);  // connections are not in the table
  const RedisProcess redis;
  const SteadyClock clock;
  const std::string digest = LoadScript(redis);
  double plain = 0;
  double piped = 0;
  for (int round = 0; round < 3; ++round) {
    plain = std::max(plain, RedisBenchmark(redis, digest, 16, 1, count / 4));
    piped = std::max(piped, RedisBenchmark(redis, digest, 16, 16, count));
  }
  Print("redis-benchmark, one-key script, runs/s", plain, "%10.0f");
  Print("  the same in pipelines of 16", piped, "%10.0f");
  int64_t failures = 0;
  const auto compare = [&](const std::string& name, int rules,
                           const StartFn& ask) {
    const double best = Best(ask, clock, count, failures);
    Print(absl::StrCat(name, ", rules: ", rules, ", decisions/s"), best,
          "%10.0f");
    Print("  to unpipelined", best / plain, "%10.2f");
    Print("  to pipelined", best / piped, "%10.2f");
    const Latency latency = OpenLoop(ask, clock, best / 2, count / 2);
    Print("  at half of that: p50, us", latency.p50_us, "%10.0f");
    Print("  p99, us, failures at their worst", latency.p99_us, "%10.0f");
    failures += latency.failures;
  };
  for (const int rules : {1, 3}) {
    Inside inside(redis, rules);
    compare("the store alone", rules, [&inside](int64_t number, auto done) {
      inside.Start(number, std::move(done));
    });
  }
  for (const int rules : {1, 3}) {
    ThroughAServer server(binary, redis, rules);
    compare("gRPC, server and store", rules,
            [&server](int64_t number, auto done) {
              server.Start(number, std::move(done));
            });
  }
  Print("failures", static_cast<double>(failures), "%10.0f");
  return failures == 0 && piped > 0 ? 0 : 1;
}

}  // namespace
}  // namespace tollgate::redis

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "store_bench SERVER_BINARY [DECISIONS]\n");
    return 2;
  }
  return tollgate::redis::Run(
      argv[1], argc > 2 ? std::max(std::atoll(argv[2]), 100LL) : 100'000);
}
