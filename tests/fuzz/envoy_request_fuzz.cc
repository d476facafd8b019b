// Bytes as a gateway may send them, as a message (first byte even) or as JSON:
// whatever they are is answered, and the answer keeps what the service
// promises.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/envoy/envoy_handler.h"
#include "server/envoy/envoy_json.h"
#include "server/limiter/limiter.h"
#include "server/limiter/memory_store.h"
#include "tests/fuzz/check.h"

namespace tollgate {
namespace {

using RlsRequest = envoy::service::ratelimit::v3::RateLimitRequest;
using RlsResponse = envoy::service::ratelimit::v3::RateLimitResponse;

constexpr int64_t kNow = 1'700'000'000'000'000'001;

Rule Node(std::vector<NodeStep> path, uint64_t requests_per_minute) {
  Rule rule;
  rule.domain = "d";
  for (const NodeStep& step : path) rule.name += step.ToString() + ".";
  rule.algorithm = FindAlgorithm("token_bucket");
  NodeLimit limit;
  limit.requests_per_unit = requests_per_minute;
  limit.unit = LimitUnit::kMinute;
  limit.name = path.back().key;
  if (requests_per_minute > 0) {
    rule.limits = {
        Limit::Create(requests_per_minute, absl::Minutes(1)).value()};
  }
  rule.node = NodeRule{std::move(path), {limit}, false, R"({"m":{"n":1}})"};
  return rule;
}

// A rule of each kind.
RuleSet MakeRules() {
  std::vector<Rule> rules = {Node({{"a", "", false}}, 3),
                             Node({{"a", "x*", true}}, 2),
                             Node({{"a", "x", false}}, 4),
                             Node({{"b", "", false}}, 1),
                             Node({{"c", "", false}}, 1),
                             Node({{"r", "", false}}, 1),
                             Node({{"z", "", false}}, 0),
                             Node({{"u", "", false}}, 0),
                             Node({{"a", "", false}, {"b", "", false}}, 2)};
  rules[3].node->quota_mode = true;
  rules[4].mode = Mode::kShadow;
  rules[5].node->limits[0].replaces = {"a"};
  rules[7].node->limits[0] = NodeLimit();
  rules[7].node->limits[0].unlimited = true;
  Rule native;
  native.domain = "n";
  native.name = "per-user";
  native.key = {KeyPart{{KeySource{"user", {}}}}};
  native.limits = {Limit::Create(2, absl::Minutes(5)).value()};
  native.algorithm = FindAlgorithm("token_bucket");
  rules.push_back(native);
  absl::StatusOr<RuleSet> set = RuleSet::Create(std::move(rules));
  Check(set.ok(), "the rules are good");
  return *std::move(set);
}

void CheckError(const absl::Status& status) {
  Check(absl::IsInvalidArgument(status) || absl::IsResourceExhausted(status),
        "an error is the caller's");
  Check(!status.message().empty(), "an error says something");
}

void CheckAnswer(const RlsRequest& request, const RlsResponse& response) {
  Check(response.statuses_size() == request.descriptors_size(),
        "each descriptor has a status");
  bool any_over = false;
  for (const auto& status : response.statuses()) {
    const bool over = status.code() == RlsResponse::OVER_LIMIT;
    any_over = any_over || over;
    Check(over || status.code() == RlsResponse::OK, "a status is known");
    Check(!over || status.limit_remaining() == 0, "over leaves nothing");
    Check(!over || status.has_current_limit(), "over is over some limit");
    Check(status.duration_until_reset().seconds() >= 0 &&
              status.duration_until_reset().nanos() == 0,
          "a reset is whole seconds to come");
  }
  Check(response.overall_code() == RlsResponse::OK || any_over,
        "something refuses what is refused");
  RlsResponse again;
  Check(again.ParseFromString(response.SerializeAsString()),
        "an answer can be sent");
}

bool GivesBack(const RlsRequest& request) {
  for (const auto& descriptor : request.descriptors()) {
    if (descriptor.is_negative_hits()) return true;
  }
  return false;
}

void AskMessage(EnvoyHandler& handler, absl::string_view bytes) {
  RlsRequest request;
  // What is no message, gRPC does not hand on.
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return;
  }
  bool refused = false;
  for (int i = 0; i < 4; ++i) {
    RlsResponse response;
    absl::Status status = absl::UnknownError("not finished");
    handler.ShouldRateLimit(
        request, std::numeric_limits<int64_t>::max(), response,
        [&status](absl::Status told) { status = std::move(told); });
    if (!status.ok()) return CheckError(status);
    CheckAnswer(request, response);
    const bool over = response.overall_code() == RlsResponse::OVER_LIMIT;
    Check(over || !refused || GivesBack(request),
          "what is refused stays so while time stands still");
    refused = over;
  }
}

void AskJson(const Limiter& limiter, BucketStore& store,
             const EnvoyAnswerOptions& options, absl::string_view text) {
  absl::StatusOr<EnvoyJsonAnswer> answer = absl::UnknownError("not finished");
  ShouldRateLimitJson(limiter, store, options, text,
                      [&answer](absl::StatusOr<EnvoyJsonAnswer> told) {
                        answer = std::move(told);
                      });
  if (!answer.ok()) return CheckError(answer.status());
  Check(!answer->json.empty() && answer->json.front() == '{' &&
            answer->json.back() == '}',
        "an answer is an object");
}

}  // namespace
}  // namespace tollgate

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const tollgate::FakeClock clock(tollgate::kNow);
  tollgate::LimiterOptions options;
  options.stripes = 1;
  options.hash_key = tollgate::HashKey{};
  tollgate::Limiter limiter(clock, options);
  tollgate::Check(limiter.SetRules(tollgate::MakeRules()).ok(),
                  "the rules come into force");
  tollgate::MemoryStore store(limiter);
  const tollgate::EnvoyAnswerOptions answer_options = {
      .headers = data[0] % 4 < 2 ? tollgate::HeaderProfile::kDraft10
                                 : tollgate::HeaderProfile::kLegacy,
      .dynamic_metadata = true};
  const absl::string_view rest(reinterpret_cast<const char*>(data) + 1,
                               size - 1);
  if (data[0] % 2 == 0) {
    tollgate::EnvoyHandler handler(limiter, store, answer_options);
    tollgate::AskMessage(handler, rest);
  } else {
    tollgate::AskJson(limiter, store, answer_options, rest);
  }
  return 0;
}
