#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/envoy/gateway.h"
#include "tests/limiter/nodes.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;

struct Bad {
  std::string request;
  std::string message;
};

class EnvoyBadRequest : public ::testing::TestWithParam<Bad> {};

TEST_P(EnvoyBadRequest, IsInvalidAndSaysWhy) {
  Gateway gateway({NodeAt({{"a", "", false}}, {Written(1)})});
  RlsResponse response;
  EXPECT_THAT(gateway.Ask(GetParam().request, response),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(GetParam().message)));
  // Nothing was taken.
  EXPECT_EQ(gateway.Ask(Descr({{"a", "1"}})),
            Answer(kOk + Limited("OK", 1, "MINUTE", 0, 60)));
}

const std::string kShop = "domain: 'shop' ";
INSTANTIATE_TEST_SUITE_P(
    All, EnvoyBadRequest,
    ::testing::Values(
        Bad{"", "rate limit domain must not be empty"},
        Bad{Descr({{"a", "1"}}), "rate limit domain must not be empty"},
        Bad{kShop, "rate limit descriptor list must not be empty"},
        Bad{kShop + Descr({{"", "1"}}), "descriptors[0].entries[0].key"},
        Bad{kShop + Descr({{"a", "1"}}) + Descr({{"b", "\\xFF"}}),
            "descriptors[1].entries[0].value"},
        Bad{"domain: '\\xC0\\x80' " + Descr({{"a", "1"}}), "domain"},
        Bad{"domain: '\\xC0\\x80' descriptors { }", "domain"},
        Bad{kShop + Descr({{"a", std::string(4097, 'x')}}),
            "descriptors[0].entries[0].value"},
        Bad{kShop + Descr({{"a", "1"}},
                          "hits_addend { value: 18446744073709551615 }"),
            "descriptors[0].hits_addend"},
        Bad{kShop + Descr({{"a", "1"}}, "limit { requests_per_unit: 1 }"),
            "descriptors[0].limit.unit"},
        Bad{kShop +
                Descr({{"a", "1"}}, "limit { requests_per_unit: 1 unit: 8 }"),
            "descriptors[0].limit.unit"},
        Bad{kShop +
                Descr({{"a", "1"}}, "limit { requests_per_unit: 1 unit: -1 }"),
            "descriptors[0].limit.unit"},
        Bad{kShop + Descr({}, "limit { requests_per_unit: 1 unit: DAY }"),
            "descriptors[0].entries"}));

TEST(EnvoyErrors, RefuseMoreDescriptorsThanTheBound) {
  Gateway gateway({NodeAt({{"a", "", false}}, {Written(1000)})});
  const auto many = [](int count) {
    std::string request = kShop;
    for (int i = 0; i < count; ++i) request += Descr({{"a", "1"}});
    return request;
  };
  RlsResponse response;
  EXPECT_THAT(gateway.Ask(many(64), response), IsOk());
  response.Clear();
  EXPECT_THAT(
      gateway.Ask(many(65), response),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("descriptors")));
}

TEST(EnvoyErrors, SayThatNoRulesAreLoaded) {
  const FakeClock clock(kMidnightNs);
  Limiter limiter(clock);
  MemoryStore store(limiter);
  EnvoyHandler handler(limiter, store, {});
  RlsResponse response;
  const auto ask = [&](const std::string& request) {
    const auto message = FromText<RlsRequest>(request);
    return AtOnce<absl::Status>([&](auto done) {
      handler.ShouldRateLimit(message, std::numeric_limits<int64_t>::max(),
                              response, done);
    });
  };
  EXPECT_THAT(ask(kShop + Descr({{"a", "1"}})),
              StatusIs(absl::StatusCode::kUnavailable,
                       "no rate limit configuration loaded"));
  // What is wrong with the request is said first.
  EXPECT_THAT(ask(kShop), StatusIs(absl::StatusCode::kInvalidArgument,
                                   HasSubstr("descriptor list")));
}

TEST(EnvoyErrors, AreNotForADomainThatNobodyNames) {
  Gateway gateway({NodeAt({{"a", "", false}}, {Written(1)})});
  RlsResponse response;
  ASSERT_THAT(gateway.Ask("domain: 'other' " +
                              Descr({{"a", "1"}},
                                    "limit { requests_per_unit: 1 unit: DAY }"),
                          response),
              IsOk());
  EXPECT_EQ(response.ShortDebugString(), Answer(kOk + kNoLimit));
}

TEST(EnvoyErrors, SayThatTheDeadlineHadPassed) {
  Gateway gateway({NodeAt({{"a", "", false}}, {Written(1)})});
  const auto request = FromText<RlsRequest>(kShop + Descr({{"a", "1"}}));
  RlsResponse response;
  EXPECT_THAT(
      AtOnce<absl::Status>([&](auto done) {
        gateway.handler.ShouldRateLimit(request, kMidnightNs - 1, response,
                                        done);
      }),
      StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("deadline")));
  EXPECT_THAT(AtOnce<absl::Status>([&](auto done) {
                gateway.handler.ShouldRateLimit(request, kMidnightNs, response,
                                                done);
              }),
              IsOk());
}

}  // namespace
}  // namespace tollgate
