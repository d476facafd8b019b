#include "server/rpc/admin_handler.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limiter/memory_store.h"
#include "server/rpc/admission.h"
#include "tests/rpc/fakes.h"
#include "tests/support/at_once.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Rule MakeRule(const std::string& name, const std::string& key,
              uint64_t tokens) {
  Rule rule;
  rule.domain = "shop";
  rule.name = name;
  rule.key = {KeyPart{{KeySource{key, {}}}}};
  rule.limits = {Limit::Create(tokens, absl::Seconds(1)).value()};
  rule.algorithm = FindAlgorithm("token_bucket");
  return rule;
}

// The shop has a rule for each user and one for each client; another domain
// has a rule, too.
struct Administered {
  FakeClock clock{kStartNs};
  Limiter limiter{clock};
  MemoryStore store{limiter};
  CountingObserver observer;
  AdminHandler handler{limiter, store,
                       [this] {
                         return RulesInForce{"0123abcd", limiter.rules()};
                       },
                       observer};

  Administered() {
    Rule other = MakeRule("per-account", "account", 9);
    other.domain = "bank";
    Set({MakeRule("per-user", "user", 5), MakeRule("per-client", "client", 7),
         other});
  }

  void Set(std::vector<Rule> rules) {
    absl::StatusOr<RuleSet> set = RuleSet::Create(std::move(rules));
    ASSERT_TRUE(set.ok()) << set.status();
    ASSERT_TRUE(limiter.SetRules(*std::move(set)).ok());
  }

  absl::Status Peek(const v1::PeekBucketRequest& request,
                    v1::PeekBucketResponse& response,
                    int64_t deadline_ns = kNoDeadline) {
    return AtOnce<absl::Status>([&](auto done) {
      handler.PeekBucket(request, deadline_ns, response, done);
    });
  }
  absl::Status Reset(const v1::ResetBucketRequest& request,
                     v1::ResetBucketResponse& response) {
    return AtOnce<absl::Status>([&](auto done) {
      handler.ResetBucket(request, kNoDeadline, response, done);
    });
  }

  // Tokens that are left to ana, of `rule`, after a request of hers.
  uint64_t Take(uint64_t cost) {
    RequestView view;
    v1::ShouldAllowRequest request = Ana<v1::ShouldAllowRequest>();
    request.set_cost(static_cast<uint32_t>(cost));
    return limiter.Decide(view.Show(request, kNoDeadline))
        .statuses[0]
        .remaining;
  }

  template <typename Message>
  static Message Ana() {
    const v1::ShouldAllowRequest request =
        MakeRequest("shop", {{"user", "ana"}, {"client", "app"}});
    Message message;
    message.set_domain(request.domain());
    *message.mutable_descriptors() = request.descriptors();
    return message;
  }
};

TEST(AdminHandler, ShowsTheRulesOfAllDomainsOrOfOne) {
  Administered admin;
  v1::GetRulesResponse all;
  EXPECT_THAT(admin.handler.GetRules({}, kNoDeadline, all), IsOk());
  EXPECT_EQ(all.hash(), "0123abcd");
  ASSERT_EQ(all.rules_size(), 3);
  EXPECT_EQ(all.rules(0).name(), "per-user");
  EXPECT_EQ(all.rules(2).domain(), "bank");

  v1::GetRulesRequest request;
  request.set_domain("bank");
  v1::GetRulesResponse one;
  EXPECT_THAT(admin.handler.GetRules(request, kNoDeadline, one), IsOk());
  ASSERT_EQ(one.rules_size(), 1);
  EXPECT_EQ(one.rules(0).name(), "per-account");

  request.set_domain("nobody");
  v1::GetRulesResponse none;
  EXPECT_THAT(admin.handler.GetRules(request, kNoDeadline, none), IsOk());
  EXPECT_EQ(none.rules_size(), 0);
}

TEST(AdminHandler, DescribesEveryPartOfARule) {
  Administered admin;
  Rule rule = MakeRule("login", "user", 10);
  rule.match = {Condition{"endpoint", {Pattern::Exact("/login")}}};
  rule.key = {KeyPart{{KeySource{"api_key", {}}, KeySource{"ip", {}}}}};
  rule.tier =
      Tier{"plan",
           {{"free", rule.limits},
            {"paid", {Limit::Create(10, absl::Minutes(5), 20).value()}}},
           "free"};
  rule.limits.clear();
  rule.cost = 3;
  rule.enforce_percent = 25;
  rule.penalty = PenaltyRule{Limit::Create(100, absl::Minutes(1))
                                 ->WithHold(absl::Minutes(10))
                                 .value()};
  rule.reserve = Reserve{"priority", {{"critical", 0}, {"batch", 20}}, "batch"};
  rule.on_outage = OutagePolicy::kRefuse;
  Rule staff;
  staff.domain = "shop";
  staff.name = "staff";
  staff.match = {Condition{"user", {Pattern::Exact("root")}}};
  staff.unlimited = true;
  staff.skips = {"login"};
  admin.Set({rule, staff});
  v1::GetRulesResponse response;
  EXPECT_THAT(admin.handler.GetRules({}, kNoDeadline, response), IsOk());
  ASSERT_EQ(response.rules_size(), 2);
  const v1::RuleInfo& login = response.rules(0);
  EXPECT_EQ(login.algorithm(), "token_bucket");
  EXPECT_THAT(login.match(), ElementsAre("endpoint = /login"));
  EXPECT_THAT(login.key(), ElementsAre("api_key | ip"));
  ASSERT_EQ(login.limits_size(), 2);
  EXPECT_EQ(login.limits(0).tier(), "free");
  EXPECT_EQ(login.limits(0).text(), "10/second");
  EXPECT_EQ(login.limits(1).tier(), "paid");
  EXPECT_EQ(login.limits(1).text(), "10/5m burst 20");
  EXPECT_EQ(login.limits(1).limit().burst(), 20U);
  EXPECT_EQ(login.cost(), 3U);
  EXPECT_EQ(login.mode(), "enforce 25%");
  EXPECT_EQ(login.on_outage(), "refuse");
  EXPECT_THAT(
      login.notes(),
      ElementsAre(
          "tier by plan, free by default",
          "penalty: blocked for 10m after more than 100/minute refusals",
          "reserve by priority: critical leaves 0%, batch leaves 20%, "
          "batch by default"));
  EXPECT_TRUE(response.rules(1).unlimited());
  EXPECT_EQ(response.rules(1).limits_size(), 0);
  EXPECT_THAT(response.rules(1).notes(), ElementsAre("skips login"));
}

TEST(AdminHandler, ExplainsWhichRulesApplyAndWhyOthersDoNot) {
  Administered admin;
  auto request = Administered::Ana<v1::ExplainRequest>();
  request.mutable_descriptors(0)->mutable_entries()->RemoveLast();
  request.set_cost(2);
  v1::ExplainResponse response;
  EXPECT_THAT(admin.handler.Explain(request, kNoDeadline, response), IsOk());
  ASSERT_EQ(response.rules_size(), 2);
  const v1::RuleExplanation& applies = response.rules(0);
  EXPECT_EQ(applies.rule(), "per-user");
  EXPECT_TRUE(applies.applies());
  EXPECT_EQ(applies.key(), "user=ana");
  EXPECT_THAT(applies.limits(), ElementsAre("5/second"));
  EXPECT_EQ(applies.cost(), 2U);
  EXPECT_EQ(applies.mode(), "enforce");
  EXPECT_FALSE(response.rules(1).applies());
  EXPECT_THAT(response.rules(1).reason(), HasSubstr("client"));
  EXPECT_EQ(admin.limiter.bucket_count(), 0U);
}

TEST(AdminHandler, PeeksAtBucketsWithoutMakingOrChangingAny) {
  Administered admin;
  const auto request = Administered::Ana<v1::PeekBucketRequest>();
  for (const uint64_t left : {5, 2}) {
    for (int i = 0; i < 3; ++i) {
      v1::PeekBucketResponse response;
      EXPECT_THAT(admin.Peek(request, response), IsOk());
      ASSERT_EQ(response.buckets_size(), 2);
      EXPECT_EQ(response.buckets(0).rule(), "per-user");
      EXPECT_EQ(response.buckets(0).remaining(), left);
      EXPECT_EQ(response.buckets(1).rule(), "per-client");
    }
    EXPECT_EQ(admin.limiter.bucket_count(), left == 5 ? 0U : 2U);
    if (left == 5) admin.Take(3);
  }
}

TEST(AdminHandler, PeeksAtTheBucketOfOneRule) {
  Administered admin;
  auto request = Administered::Ana<v1::PeekBucketRequest>();
  request.set_rule("per-client");
  v1::PeekBucketResponse response;
  EXPECT_THAT(admin.Peek(request, response), IsOk());
  ASSERT_EQ(response.buckets_size(), 1);
  EXPECT_EQ(response.buckets(0).rule(), "per-client");
  request.set_rule("nobody");
  response.Clear();
  EXPECT_THAT(admin.Peek(request, response), IsOk());
  EXPECT_EQ(response.buckets_size(), 0);
}

TEST(AdminHandler, MakesTheBucketsOfARequestFullAgain) {
  Administered admin;
  EXPECT_EQ(admin.Take(5), 0U);
  auto request = Administered::Ana<v1::ResetBucketRequest>();
  request.set_rule("per-client");
  v1::ResetBucketResponse one;
  EXPECT_THAT(admin.Reset(request, one), IsOk());
  EXPECT_EQ(one.count(), 1U);
  EXPECT_EQ(admin.Take(0), 0U);
  request.clear_rule();
  v1::ResetBucketResponse all;
  EXPECT_THAT(admin.Reset(request, all), IsOk());
  EXPECT_EQ(all.count(), 2U);
  EXPECT_EQ(admin.Take(1), 4U);
}

TEST(AdminHandler, HasNothingToResetWhereThereIsNoBucket) {
  Administered admin;
  v1::ResetBucketResponse response;
  EXPECT_THAT(
      admin.Reset(Administered::Ana<v1::ResetBucketRequest>(), response),
      IsOk());
  EXPECT_EQ(response.count(), 0U);
  EXPECT_EQ(admin.limiter.bucket_count(), 0U);
}

TEST(AdminHandler, NamesTheFieldThatIsBad) {
  Administered admin;
  v1::GetRulesRequest rules;
  rules.set_domain(std::string(256, 'd'));
  v1::GetRulesResponse shown;
  EXPECT_THAT(admin.handler.GetRules(rules, kNoDeadline, shown), IsOk());
  rules.set_domain(std::string(257, 'd'));
  EXPECT_THAT(admin.handler.GetRules(rules, kNoDeadline, shown),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "domain: got 257 bytes, want at most 256"));

  v1::ExplainResponse explained;
  EXPECT_THAT(
      admin.handler.Explain({}, kNoDeadline, explained),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("domain: empty")));

  auto peek = Administered::Ana<v1::PeekBucketRequest>();
  v1::PeekBucketResponse peeked;
  peek.set_rule(std::string(128, 'r'));
  EXPECT_THAT(admin.Peek(peek, peeked), IsOk());
  peek.set_rule(std::string(129, 'r'));
  EXPECT_THAT(admin.Peek(peek, peeked),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "rule: got 129 bytes, want at most 128"));
  peek.clear_descriptors();
  EXPECT_THAT(admin.Peek(peek, peeked),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("descriptors: got 0")));

  auto reset = Administered::Ana<v1::ResetBucketRequest>();
  v1::ResetBucketResponse done;
  reset.set_rule("\xFF");
  EXPECT_THAT(
      admin.Reset(reset, done),
      StatusIs(absl::StatusCode::kInvalidArgument, "rule: not valid UTF-8"));
  EXPECT_EQ(admin.observer.invalid, 5);
}

TEST(AdminHandler, DoesNotPeekPastTheDeadline) {
  Administered admin;
  v1::PeekBucketResponse response;
  EXPECT_THAT(
      admin.Peek(Administered::Ana<v1::PeekBucketRequest>(), response,
                 kStartNs - 1),
      StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("deadline")));
  EXPECT_EQ(admin.observer.expired, 1);
}

}  // namespace
}  // namespace tollgate
