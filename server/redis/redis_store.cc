#include "server/redis/redis_store.h"

#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/limiter/planner.h"
#include "server/redis/bucket_key.h"
#include "server/redis/bucket_script.h"
#include "server/redis/refund_queue.h"
#include "server/redis/request_runner.h"
#include "server/redis/store_call.h"
#include "spdlog/spdlog.h"

namespace tollgate::redis {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
// What keeps a list is read and written whole by each request, and meanwhile
// Redis does nothing else.
constexpr uint32_t kMaxListed = 1000;
// A longer time until a bucket is full cannot be told by Redis' side to ours.
constexpr int64_t kMaxFillNs = int64_t{1} << 61;

class RedisStore final : public BucketStore {
 public:
  RedisStore(const RedisStoreOptions& options, Limiter& limiter,
             std::unique_ptr<ScriptRunner> runner, const Clock& steady_clock)
      : options_(options),
        limiter_(limiter),
        clock_(steady_clock),
        planner_(limiter, options.replicas),
        refunds_(runner_, clock_,
                 [this](const absl::Status& status) {
                   Fail(StoreOperation::kRefund, status);
                 }),
        runner_(std::move(runner)) {}
  ~RedisStore() override { refunds_.Stop(); }

  [[nodiscard]] bool is_immediate() const override { return false; }

  void Decide(const Request& request, Decided done) override {
    Start(planner_.PlanDecision(request), StoreOperation::kTake, 0,
          std::move(done));
  }
  // A bucket that keys share is one of this process, and not given back to.
  void Refund(const Request& request, int64_t taken_at_ns,
              absl::Span<const Fingerprint> /*overflow*/,
              Decided done) override {
    Start(planner_.PlanRefund(request), StoreOperation::kRefund, taken_at_ns,
          std::move(done));
  }
  void Release(const HeldSlots& slots,
               absl::AnyInvocable<void(bool found)> done) override;
  void Reset(const Request& request, absl::string_view rule,
             absl::AnyInvocable<void(size_t count)> done) override;

 private:
  void Start(std::unique_ptr<Plan> plan, StoreOperation operation,
             int64_t taken_at_ns, Decided done) {
    std::make_shared<StoreCall>(context_, std::move(plan), operation,
                                taken_at_ns, Deadline(), std::move(done))
        ->Start();
  }
  [[nodiscard]] int64_t Deadline() const {
    return clock_.NowNs() + absl::ToInt64Nanoseconds(options_.timeout);
  }
  void Fail(StoreOperation operation, const absl::Status& status);

  const RedisStoreOptions options_;
  Limiter& limiter_;
  const Clock& clock_;
  Planner planner_;
  std::atomic<int64_t> logged_at_ns_{-kSecondNs};  // of Fail; orders nothing
  RefundQueue refunds_;
  const StoreContext context_{
      planner_, runner_, refunds_,
      [this](StoreOperation operation, const absl::Status& status) {
        Fail(operation, status);
      }};
  RequestRunner runner_;  // goes first: it finishes what is under way
};

void RedisStore::Fail(StoreOperation operation, const absl::Status& status) {
  if (options_.observer != nullptr) options_.observer->OnStoreError(operation);
  // An outage fails thousands of requests a second for one reason.
  const int64_t now_ns = clock_.NowNs();
  int64_t logged_at_ns = logged_at_ns_.load(std::memory_order_relaxed);
  if (now_ns - logged_at_ns < kSecondNs ||
      !logged_at_ns_.compare_exchange_strong(logged_at_ns, now_ns)) {
    return;
  }
  spdlog::warn("the store fails to {}, outage policies decide: {}",
               std::string(NameOf(operation)), std::string(status.message()));
}

void RedisStore::Release(const HeldSlots& slots,
                         absl::AnyInvocable<void(bool found)> done) {
  ScriptKey key;
  if (!ParseSlotsPlace(slots.place, key)) return done(limiter_.Release(slots));
  ScriptRequest request;
  request.writes = true;
  request.keys.push_back(std::move(key));
  ScriptAsk& ask = request.asks.emplace_back();
  ask.kind = ScriptAskKind::kRefund;
  ask.key = 0;
  ask.ask.ticket = slots.ticket;
  runner_.Run(
      std::move(request), Deadline(),
      [this, done = std::move(done)](absl::StatusOr<ScriptAnswer> answer,
                                     ScriptRequest sent) mutable {
        if (answer.ok()) return done(!answer->states[0].empty());
        Fail(StoreOperation::kRelease, answer.status());
        // A slot can be freed twice: only its own ticket does that.
        refunds_.Add(std::move(sent));
        done(true);
      });
}

// What a reset that asks several partitions adds up to.
struct ResetCount {
  explicit ResetCount(absl::AnyInvocable<void(size_t)> d)
      : done(std::move(d)) {}
  ~ResetCount() { done(count); }
  std::atomic<size_t> count{0};
  absl::AnyInvocable<void(size_t)> done;
};

void RedisStore::Reset(const Request& request, absl::string_view rule,
                       absl::AnyInvocable<void(size_t count)> done) {
  limiter_.Reset(request, rule);  // shares that this process keeps
  const std::unique_ptr<Plan> plan = planner_.PlanReset(request, rule);
  const auto total = std::make_shared<ResetCount>(std::move(done));
  for (const PlannedBucket& bucket : plan->buckets()) {
    ScriptRun run;
    run.script = kResetScriptNumber;
    run.keys.push_back(BucketKey(bucket, request));
    const bool counts = bucket.algorithm == bucket.rule->rule.algorithm;
    run.args.push_back(counts ? "1" : "0");
    run.deadline_ns = Deadline();
    run.done = [this, total](absl::StatusOr<Reply> reply) {
      if (!reply.ok()) return Fail(StoreOperation::kReset, reply.status());
      total->count += static_cast<size_t>(reply->integer);
    };
    runner_.Run(std::move(run));
  }
}

absl::Status CheckRule(const Rule& rule, const Limit& limit) {
  const absl::string_view name = rule.algorithm->name();
  if ((name == "sliding_log" || name == "concurrency") &&
      limit.tokens() > kMaxListed) {
    return absl::InvalidArgumentError(absl::StrCat(
        "got ", limit.tokens(), " tokens, want at most ", kMaxListed, " with ",
        name, " in Redis, which keeps each of them in one value"));
  }
  if (limit.fill_time().ns > kMaxFillNs - limit.hold_ns()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "got ", limit.ToString(),
        ", which takes over 73 years to refill, want less in Redis"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view NameOf(StoreOperation operation) {
  switch (operation) {
    case StoreOperation::kTake:
      return "take";
    case StoreOperation::kRefund:
      return "refund";
    case StoreOperation::kRelease:
      return "release";
    case StoreOperation::kReset:
      break;
  }
  return "reset";
}

std::vector<std::string> StoreScripts() {
  return {TakeScript(), ResetScript()};
}

absl::Status CheckRules(absl::Span<const Rule> rules) {
  for (const Rule& rule : rules) {
    if (rule.algorithm == nullptr) continue;
    std::vector<Limit> limits = rule.limits;
    if (rule.tier.has_value()) {
      for (const auto& [tier, of_tier] : rule.tier->limits) {
        limits.insert(limits.end(), of_tier.begin(), of_tier.end());
      }
    }
    for (const Limit& limit : limits) {
      const absl::Status status = CheckRule(rule, limit);
      if (status.ok()) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "rule ", rule.name, " of ", rule.domain, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

std::unique_ptr<BucketStore> MakeRedisStore(
    const RedisStoreOptions& options, Limiter& limiter,
    std::unique_ptr<ScriptRunner> runner, const Clock& steady_clock) {
  return std::make_unique<RedisStore>(options, limiter, std::move(runner),
                                      steady_clock);
}

}  // namespace tollgate::redis
