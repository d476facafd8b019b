// State files of any bytes: whatever they say, a limiter starts, and nobody
// gets more than the limit or waits longer than an empty bucket would.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "server/limiter/pattern.h"
#include "server/state/state_transfer.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/check.h"

namespace tollgate {
namespace {

constexpr int64_t kNow = 1'700'000'000'000'000'001;
constexpr int64_t kHour = 3'600'000'000'000;
constexpr uint64_t kTokens = 10;

// A rule for each algorithm, in a domain of its name.
RuleSet OneOfEach() {
  std::vector<Rule> rules;
  for (const absl::string_view name : AlgorithmNames()) {
    Rule& rule = rules.emplace_back();
    rule.domain = std::string(name);
    rule.name = "user";
    rule.key = {KeyPart{{KeySource{"user", std::nullopt}}}};
    rule.limits = {*Limit::Create(kTokens, absl::Hours(1))};
    if (name == "leaky_bucket") {
      rule.limits[0] = *rule.limits[0].WithHold(absl::Nanoseconds(1));
    }
    rule.algorithm = FindAlgorithm(name);
  }
  return *RuleSet::Create(std::move(rules));
}

Decision Ask(Limiter& limiter, absl::string_view domain) {
  const Entry entry = {"user", "ana"};
  const Descriptor descriptor(&entry, 1);
  return limiter.Decide(Request{domain, {&descriptor, 1}});
}

// The first byte chooses: the bytes as they are; or as the payload of a block,
// with a good checksum and as many buckets as the second byte says.
std::string FileOf(absl::string_view bytes) {
  if (bytes.size() < 2 || bytes[0] % 2 == 0) {
    return std::string(bytes.substr(std::min<size_t>(1, bytes.size())));
  }
  return state::EncodeHeader({kNow, HashKey{}}) +
         state::EncodeBlock(static_cast<unsigned char>(bytes[1]), kNow,
                            bytes.substr(2));
}

// Ana's own buckets, under any limit and with any numbers.
void Lie(Limiter& limiter, absl::Span<const uint8_t> bytes) {
  ByteReader choices(bytes);
  for (const absl::string_view name : AlgorithmNames()) Ask(limiter, name);
  std::vector<Fingerprint> fingerprints;
  BucketTable::Cursor cursor;
  SavedBuckets saved;
  while (limiter.Save(cursor, kNow, saved)) {
    for (const auto& entry : saved.entries) {
      fingerprints.push_back(entry.fingerprint);
    }
  }
  Restorer restorer = limiter.MakeRestorer();
  for (int i = 0; i < 16 && !choices.done(); ++i) {
    const auto names = AlgorithmNames();
    const absl::string_view name = names[choices.Below(names.size())];
    const auto tokens = 1 + choices.Below(200);
    const auto target = restorer.Find(
        {name, "user", "0:", name,
         *Limit::Create(tokens, absl::Seconds(1 + choices.Below(200)))});
    std::vector<int64_t> numbers(choices.Below(8));
    for (int64_t& number : numbers) {
      number = static_cast<int64_t>(choices.Word()) >> choices.Below(64);
    }
    if (!target.has_value()) continue;
    restorer.Restore(*target, fingerprints[choices.Below(fingerprints.size())],
                     SavedState{numbers, static_cast<int64_t>(choices.Word())});
  }
}

void CheckLimits(Limiter& limiter) {
  for (const absl::string_view name : AlgorithmNames()) {
    uint64_t allowed = 0;
    Decision decision = Ask(limiter, name);
    for (; decision.allowed(); decision = Ask(limiter, name)) {
      Check(++allowed <= kTokens, "nobody gets more than the limit");
    }
    Check(decision.retry_after_ns > 0 && decision.retry_after_ns <= 2 * kHour,
          "nobody waits longer than for an empty bucket");
  }
  limiter.Sweep(limiter.bucket_count());
}

}  // namespace
}  // namespace tollgate

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const tollgate::FakeClock clock(tollgate::kNow);
  tollgate::LimiterOptions options;
  options.stripes = 1;
  options.hash_key = tollgate::HashKey{};
  tollgate::Limiter limiter(clock, options);
  tollgate::Check(limiter.SetRules(tollgate::OneOfEach()).ok(), "rules load");
  const std::string file = tollgate::FileOf(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  const auto source = [&file](uint64_t offset, char* out, size_t want) {
    if (offset >= file.size()) return size_t{0};
    want = std::min<size_t>(want, file.size() - offset);
    std::memcpy(out, file.data() + offset, want);
    return want;
  };
  if (tollgate::state::ReadHeader(source).ok()) {
    tollgate::state::RestoreState(source, limiter);
  }
  tollgate::Lie(limiter, {data, size});
  tollgate::CheckLimits(limiter);
  return 0;
}
