#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limiter/memory_store.h"
#include "server/rpc/admin_handler.h"
#include "server/rpc/admission.h"
#include "tests/rpc/fakes.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Keep = RefusedKeysOptions::Mode;

// A limiter that gives each user and each client so many tokens.
struct Refusing {
  FakeClock clock{kStartNs};
  Limiter limiter;
  MemoryStore store{limiter};
  CountingObserver observer;
  AdminHandler handler{limiter, store,
                       [this] {
                         return RulesInForce{"", limiter.rules()};
                       },
                       observer};

  explicit Refusing(Keep mode)
      : limiter(clock, LimiterOptions{.refused_keys = {.mode = mode}}) {
    std::vector<Rule> rules;
    for (const char* entry : {"user", "client"}) {
      Rule& rule = rules.emplace_back();
      rule.domain = "shop";
      rule.name = absl::StrCat("per-", entry);
      rule.key = {KeyPart{{KeySource{entry, {}}}}};
      rule.limits = {Limit::Create(1, absl::Hours(1)).value()};
      rule.algorithm = FindAlgorithm("token_bucket");
    }
    EXPECT_THAT(limiter.SetRules(*RuleSet::Create(std::move(rules))), IsOk());
  }

  void Ask(const std::string& entry, const std::string& value, int times) {
    RequestView view;
    const v1::ShouldAllowRequest request =
        MakeRequest("shop", {{entry, value}});
    for (int i = 0; i < times; ++i) {
      limiter.Decide(view.Show(request, kNoDeadline));
    }
  }
  v1::TopRefusedResponse Top(const v1::TopRefusedRequest& request = {}) {
    v1::TopRefusedResponse response;
    EXPECT_THAT(handler.TopRefused(request, kNoDeadline, response), IsOk());
    return response;
  }
  absl::Status Error(const v1::TopRefusedRequest& request) {
    v1::TopRefusedResponse response;
    return handler.TopRefused(request, kNoDeadline, response);
  }
};

TEST(TopRefused, SaysWhoIsRefusedHowOftenAndWhen) {
  Refusing refusing(Keep::kOn);
  refusing.Ask("user", "ana", 4);
  refusing.clock.Advance(1'500'000'000);
  refusing.Ask("user", "bob", 2);
  refusing.Ask("client", "app", 2);

  const v1::TopRefusedResponse top = refusing.Top();
  ASSERT_EQ(top.rules_size(), 2);
  const v1::RefusedRule& users = top.rules(0);
  EXPECT_EQ(users.domain(), "shop");
  EXPECT_EQ(users.rule(), "per-user");
  EXPECT_EQ(users.total(), 4U);
  EXPECT_EQ(users.since().seconds() * 1'000'000'000 + users.since().nanos(),
            kStartNs);
  ASSERT_EQ(users.keys_size(), 2);
  EXPECT_EQ(users.keys(0).key(), "user=ana");
  EXPECT_EQ(users.keys(0).count(), 3U);
  EXPECT_EQ(users.keys(0).error(), 0U);
  EXPECT_EQ(users.keys(0).share(), 0.75);
  EXPECT_FALSE(users.keys(0).shadow());
  const auto& last = users.keys(1).last_refused_at();
  EXPECT_EQ(last.seconds() * 1'000'000'000 + last.nanos(),
            kStartNs + 1'500'000'000);
  EXPECT_EQ(top.rules(1).rule(), "per-client");
  EXPECT_EQ(top.half_life().seconds(), 600);
  EXPECT_FALSE(top.hashed());
  EXPECT_EQ(top.missed(), 0U);
  EXPECT_EQ(top.as_of().seconds() * 1'000'000'000 + top.as_of().nanos(),
            kStartNs + 1'500'000'000);
}

TEST(TopRefused, ShowsTenRulesAndKeysUnlessToldOtherwise) {
  Refusing refusing(Keep::kOn);
  for (int i = 0; i < 12; ++i) refusing.Ask("user", std::to_string(i), 2);
  refusing.Ask("client", "app", 2);
  EXPECT_EQ(refusing.Top().rules(0).keys_size(), 10);
  v1::TopRefusedRequest request;
  request.set_max_keys(11);
  request.set_max_rules(1);
  const v1::TopRefusedResponse top = refusing.Top(request);
  EXPECT_EQ(top.rules_size(), 1);
  EXPECT_EQ(top.rules(0).keys_size(), 11);
  EXPECT_EQ(top.rules_left_out(), 1U);
}

TEST(TopRefused, ShowsNoKeyAnywhereWhenHashed) {
  Refusing refusing(Keep::kHashed);
  refusing.Ask("user", "plaintext-ana", 3);
  const v1::TopRefusedResponse top = refusing.Top();
  EXPECT_TRUE(top.hashed());
  EXPECT_THAT(top.rules(0).keys(0).key(), StartsWith("#"));
  EXPECT_THAT(top.SerializeAsString(), Not(HasSubstr("ana")));
}

TEST(TopRefused, NamesTheFlagWhenOff) {
  Refusing refusing(Keep::kOff);
  EXPECT_THAT(refusing.Error({}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("--top-refused=off, want on or hashed")));
}

TEST(TopRefused, SaysThatNoRuleHasTheNameAndNotThatItRefusesNobody) {
  Refusing refusing(Keep::kOn);
  v1::TopRefusedRequest request;
  request.set_domain("shop");
  request.set_rule("per-user");
  EXPECT_EQ(refusing.Top(request).rules_size(), 0);
  request.set_rule("per-usr");
  EXPECT_THAT(refusing.Error(request),
              StatusIs(absl::StatusCode::kNotFound,
                       "rule: got \"per-usr\", want one that is in force"));
  request.set_domain("shp");
  EXPECT_THAT(
      refusing.Error(request),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("domain: got \"shp\"")));
  // Of a rule that is gone, what is remembered is still shown.
  refusing.Ask("user", "ana", 2);
  EXPECT_THAT(refusing.limiter.SetRules(RuleSet()), IsOk());
  request.set_domain("shop");
  request.set_rule("per-user");
  EXPECT_EQ(refusing.Top(request).rules_size(), 1);
}

TEST(TopRefused, NamesTheFieldThatIsBad) {
  Refusing refusing(Keep::kOn);
  v1::TopRefusedRequest request;
  request.set_max_keys(1000);
  request.set_max_rules(100);
  EXPECT_THAT(refusing.Error(request), IsOk());
  request.set_max_rules(101);
  EXPECT_THAT(refusing.Error(request),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "max_rules: got 101, want 0 to 100"));
  request.set_max_keys(1001);
  EXPECT_THAT(refusing.Error(request),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "max_keys: got 1001, want 0 to 1000"));
  request.set_rule(std::string(129, 'r'));
  EXPECT_THAT(refusing.Error(request),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       StartsWith("rule: got 129")));
  request.set_domain("\xFF");
  EXPECT_THAT(
      refusing.Error(request),
      StatusIs(absl::StatusCode::kInvalidArgument, "domain: not valid UTF-8"));
  EXPECT_EQ(refusing.observer.invalid, 4);
}

}  // namespace
}  // namespace tollgate
