#include "client/options.h"

#include <functional>
#include <limits>
#include <string>

#include "client/client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tollgate::client {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

using Change = std::function<void(ClientOptions&)>;

absl::Status Validate(const Change& change) {
  ClientOptions options;
  change(options);
  return ValidateOptions(options);
}

TEST(ClientOptions, TheDefaultsAreValid) {
  EXPECT_THAT(ValidateOptions({}), IsOk());
}

TEST(ClientOptions, AcceptsTheEndsOfEachRange) {
  const Change least = [](ClientOptions& o) {
    o.timeout = absl::Milliseconds(1);
    o.backstop_tokens = 1;
    o.backstop_period = absl::Milliseconds(1);
    o.breaker_failures = 1;
    o.min_probe_interval = absl::Milliseconds(1);
    o.max_probe_interval = absl::Milliseconds(1);
    o.max_in_flight = 1;
    o.refusal_cache_ttl = absl::ZeroDuration();
    o.max_batch = 1;
  };
  const Change most = [](ClientOptions& o) {
    o.timeout = absl::Seconds(60);
    o.backstop_tokens = 0xFFFFFFFF;
    o.backstop_period = absl::Hours(24);
    o.breaker_failures = 1000;
    o.min_probe_interval = absl::Seconds(1);
    o.max_probe_interval = absl::Seconds(1);
    o.max_in_flight = 65536;
    o.refusal_cache_ttl = absl::Minutes(1);
    o.max_batch = 1000;
  };
  for (const Change& change : {least, most}) {
    EXPECT_THAT(Validate(change), IsOk());
    ClientOptions options;
    change(options);
    EXPECT_THAT(Client::Create(options), IsOk());
  }
}

TEST(ClientOptions, NamesTheFieldThatIsOutOfRangeWhatItHoldsAndWhatIsWanted) {
  struct Case {
    Change change;
    std::string message;
  };
  const Case cases[] = {
      {[](auto& o) { o.target = ""; }, "target: got \"\", want host:port"},
      {[](auto& o) { o.timeout = absl::Microseconds(999); },
       "timeout: got 999us, want 1ms to 1m"},
      {[](auto& o) { o.timeout = absl::Seconds(60) + absl::Nanoseconds(1); },
       "timeout: got 1m0.000000001s, want 1ms to 1m"},
      {[](auto& o) { o.timeout = -absl::InfiniteDuration(); },
       "timeout: got -inf, want 1ms to 1m"},
      {[](auto& o) { o.outage_policy = static_cast<OutagePolicy>(3); },
       "outage_policy: got 3, want kBackstop, kAllow or kRefuse"},
      {[](auto& o) { o.backstop_tokens = 0; },
       "backstop_tokens: got 0, want 1 to 4294967295"},
      {[](auto& o) { o.backstop_tokens = 0x100000000; },
       "backstop_tokens: got 4294967296, want 1 to 4294967295"},
      {[](auto& o) { o.backstop_period = absl::ZeroDuration(); },
       "backstop_period: got 0, want 1ms to 24h"},
      {[](auto& o) { o.backstop_period = absl::Hours(25); },
       "backstop_period: got 25h, want 1ms to 24h"},
      {[](auto& o) { o.breaker_failures = 0; },
       "breaker_failures: got 0, want 1 to 1000"},
      {[](auto& o) { o.breaker_failures = 1001; },
       "breaker_failures: got 1001, want 1 to 1000"},
      {[](auto& o) { o.min_probe_interval = absl::Milliseconds(501); },
       "min_probe_interval: got 501ms, want 1ms to 500ms"},
      {[](auto& o) { o.min_probe_interval = absl::ZeroDuration(); },
       "min_probe_interval: got 0, want 1ms to 500ms"},
      {[](auto& o) { o.max_probe_interval = absl::Milliseconds(1001); },
       "max_probe_interval: got 1.001s, want 1ms to 1s"},
      {[](auto& o) { o.max_in_flight = 0; },
       "max_in_flight: got 0, want 1 to 65536"},
      {[](auto& o) { o.max_in_flight = 65537; },
       "max_in_flight: got 65537, want 1 to 65536"},
      {[](auto& o) { o.refusal_cache_ttl = absl::Nanoseconds(-1); },
       "refusal_cache_ttl: got -1ns, want 0 to 1m"},
      {[](auto& o) {
         o.refusal_cache_ttl = absl::Minutes(1) + absl::Nanoseconds(1);
       },
       "refusal_cache_ttl: got 1m0.000000001s, want 0 to 1m"},
      {[](auto& o) {
         o.policy_domains = {"shop", ""};
       },
       "policy_domains[1]: bytes: got 0, want 1 to 256"},
      {[](auto& o) { o.policy_domains = {std::string(257, 'x')}; },
       "policy_domains[0]: bytes: got 257, want 1 to 256"},
      {[](auto& o) { o.policy_domains.assign(1001, "shop"); },
       "policy_domains: count: got 1001, want 0 to 1000"},
      {[](auto& o) { o.max_batch = 0; }, "max_batch: got 0, want 1 to 1000"},
      {[](auto& o) { o.max_batch = 1001; },
       "max_batch: got 1001, want 1 to 1000"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(Validate(c.change),
                StatusIs(absl::StatusCode::kInvalidArgument, c.message));
    ClientOptions options;
    c.change(options);
    EXPECT_THAT(Client::Create(options),
                StatusIs(absl::StatusCode::kInvalidArgument, c.message));
  }
}

}  // namespace
}  // namespace tollgate::client
