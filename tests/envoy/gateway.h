#ifndef TOLLGATE_TESTS_ENVOY_GATEWAY_H_
#define TOLLGATE_TESTS_ENVOY_GATEWAY_H_

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/envoy/envoy_handler.h"
#include "server/limiter/limiter.h"
#include "server/limiter/memory_store.h"
#include "tests/support/at_once.h"

namespace tollgate {

using RlsRequest = envoy::service::ratelimit::v3::RateLimitRequest;
using RlsResponse = envoy::service::ratelimit::v3::RateLimitResponse;

// A whole minute, hour and so on up to a day.
inline constexpr int64_t kMidnightNs = 1'700'006'400'000'000'000;

template <typename Message>
Message FromText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message))
      << text;
  return message;
}

// One line of text for each of a descriptor's entries: {{"k", "v"}}.
using Entries = std::vector<std::pair<std::string, std::string>>;

// A descriptor of these entries; `more` is its other fields as text.
inline std::string Descr(const Entries& entries, const std::string& more = "") {
  std::string text = "descriptors { ";
  for (const auto& [key, value] : entries) {
    absl::StrAppend(&text, "entries { key: '", key, "' value: '", value,
                    "' } ");
  }
  return absl::StrCat(text, more, " } ");
}

// The limiter of one test, asked as a gateway asks it, at a time that stands
// still.
struct Gateway {
  FakeClock clock{kMidnightNs};
  Limiter limiter{clock};
  MemoryStore store{limiter};
  EnvoyAnswerOptions options;
  EnvoyHandler handler;

  explicit Gateway(std::vector<Rule> rules, EnvoyAnswerOptions with = {})
      : options(with), handler(limiter, store, with) {
    absl::StatusOr<RuleSet> set = RuleSet::Create(std::move(rules));
    EXPECT_TRUE(set.ok()) << set.status();
    if (!set.ok()) return;
    const absl::Status status = limiter.SetRules(*std::move(set));
    EXPECT_TRUE(status.ok()) << status;
  }

  absl::Status Ask(const std::string& request, RlsResponse& response) {
    const auto message = FromText<RlsRequest>(request);
    return AtOnce<absl::Status>([&](auto done) {
      handler.ShouldRateLimit(message, std::numeric_limits<int64_t>::max(),
                              response, done);
    });
  }
  // The answer in domain `shop`, which must come, as text.
  std::string Ask(const std::string& descriptors) {
    RlsResponse response;
    const absl::Status status = Ask("domain: 'shop' " + descriptors, response);
    EXPECT_TRUE(status.ok()) << status;
    return response.ShortDebugString();
  }
};

// Makes `text` look as Gateway::Ask writes an answer.
inline std::string Answer(const std::string& text) {
  return FromText<RlsResponse>(text).ShortDebugString();
}

// A status with a limit: `10/MINUTE` and its name, if it has one.
inline std::string Limited(const std::string& code, uint32_t requests,
                           const std::string& unit, uint32_t remaining,
                           int64_t reset_s, const std::string& name = "") {
  std::string text = absl::StrCat(
      "statuses { code: ", code,
      " current_limit { requests_per_unit: ", requests, " unit: ", unit);
  if (!name.empty()) absl::StrAppend(&text, " name: '", name, "'");
  absl::StrAppend(&text, " } ");
  if (remaining > 0) absl::StrAppend(&text, "limit_remaining: ", remaining);
  absl::StrAppend(&text, " duration_until_reset { ");
  if (reset_s > 0) absl::StrAppend(&text, "seconds: ", reset_s);
  return absl::StrCat(text, " } } ");
}

inline const std::string kUnlimitedStatus =
    "statuses { code: OK limit_remaining: 4294967295 } ";
inline const std::string kNoLimit = "statuses { code: OK } ";
inline const std::string kOk = "overall_code: OK ";
inline const std::string kOver = "overall_code: OVER_LIMIT ";

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_ENVOY_GATEWAY_H_
