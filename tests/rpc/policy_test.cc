// WatchPolicy over real connections.
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/rpc/policy_calls.h"
#include "tests/rpc/served.h"

namespace tollgate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RpcServerOptions Fast() {
  RpcServerOptions options;
  options.policy_interval = absl::Milliseconds(5);
  return options;
}

Rule RuleOf(const std::string& domain, const std::string& name) {
  Rule rule;
  rule.domain = domain;
  rule.name = name;
  rule.limits = {Limit::Create(10, absl::Seconds(1)).value()};
  rule.algorithm = FindAlgorithm("token_bucket");
  return rule;
}

void Set(Limiter& limiter, std::vector<Rule> rules) {
  absl::StatusOr<RuleSet> set = RuleSet::Create(std::move(rules));
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_TRUE(limiter.SetRules(*std::move(set)).ok());
}

std::vector<Rule> Rules(int count, const std::string& suffix) {
  std::vector<Rule> rules;
  for (int i = 0; i < count; ++i) {
    rules.push_back(RuleOf("shop", absl::StrCat("rule", i, suffix)));
    rules.back().match = {{"path", {Pattern::Exact(std::string(200, 'x'))}}};
  }
  return rules;
}

// A stream of policies over a connection of its own.
class Watching {
 public:
  explicit Watching(const Served& served,
                    const std::vector<std::string>& domains = {})
      : stub_(v1::RateLimiter::NewStub(Connect(served))) {
    SetDeadline(context_);
    v1::WatchPolicyRequest request;
    for (const std::string& domain : domains) request.add_domains(domain);
    reader_ = stub_->WatchPolicy(&context_, request);
  }

  // False if the stream has ended.
  bool Read() {
    const bool read = reader_->Read(&policy_);
    if (!read) return false;
    ++messages_;
    if (policy_.parts() == 0) return true;
    if (policy_.part() == 0) rules_.clear();
    rules_.insert(rules_.end(), policy_.rules().begin(), policy_.rules().end());
    return true;
  }
  // Reads until all parts of some rules are there.
  bool ReadRules() {
    do {
      if (!Read()) return false;
    } while (policy_.parts() == 0 || policy_.part() + 1 < policy_.parts());
    return true;
  }
  // Reads until rules are there of which `name` is the first: those that the
  // server had a moment ago may come before.
  bool ReadRulesFrom(const std::string& name) {
    do {
      if (!ReadRules()) return false;
    } while (rules_.empty() || rules_[0].name() != name);
    return true;
  }
  // Reads until so many clients are told of.
  bool ReadClients(uint32_t clients) {
    do {
      if (!Read()) return false;
    } while (policy_.clients() != clients);
    return true;
  }
  grpc::Status End() {
    while (Read()) {
    }
    return reader_->Finish();
  }
  void Cancel() { context_.TryCancel(); }

  [[nodiscard]] const v1::Policy& policy() const { return policy_; }
  [[nodiscard]] int messages() const { return messages_; }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const v1::PolicyRule& rule : rules_) names.push_back(rule.name());
    return names;
  }

 private:
  std::unique_ptr<v1::RateLimiter::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::Policy>> reader_;
  // One that takes little ahead of its reader.
  static std::shared_ptr<grpc::Channel> Connect(const Served& served) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 64 * 1024);
    return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", served.port),
                                     grpc::InsecureChannelCredentials(),
                                     arguments);
  }

  v1::Policy policy_;
  std::vector<v1::PolicyRule> rules_;
  int messages_ = 0;
};

TEST(WatchPolicy, SendsTheRulesAndTheNumberOfClientsAtOnce) {
  RpcServerOptions options;
  options.policy_interval = absl::Hours(1);
  Served* served_before = nullptr;
  options.rules_in_force = [&served_before] {
    return RulesInForce{"0123abcd", served_before->limiter.rules()};
  };
  // The server asks for the rules only once it starts.
  struct Known : Served {
    Known(Served*& known, RpcServerOptions options)
        : Served((known = this, 2), std::move(options)) {}
  } served(served_before, options);
  Watching watching(served);
  ASSERT_TRUE(watching.Read());
  EXPECT_EQ(watching.policy().hash(), "0123abcd");
  EXPECT_EQ(watching.policy().clients(), 1);
  EXPECT_EQ(watching.policy().part(), 0);
  EXPECT_EQ(watching.policy().parts(), 1);
  ASSERT_EQ(watching.policy().rules_size(), 1);
  const v1::PolicyRule& rule = watching.policy().rules(0);
  EXPECT_EQ(rule.domain(), "shop");
  EXPECT_EQ(rule.name(), "per-user");
  EXPECT_EQ(rule.on_outage(), v1::OUTAGE_BACKSTOP);
  EXPECT_EQ(rule.algorithm(), "token_bucket");
  EXPECT_EQ(rule.key(0).alternatives(0).entry(), "user");
  EXPECT_EQ(rule.limits(0).limit().tokens(), 2);
  EXPECT_EQ(served.observer.watchers, 1);
  EXPECT_EQ(served.observer.arrivals, 0) << "it is no decision";
}

TEST(WatchPolicy, TellsEachWhenAnotherComesAndWhenItLeaves) {
  const Served served(2, Fast());
  Watching first(served);
  ASSERT_TRUE(first.ReadClients(1));
  {
    Watching second(served);
    ASSERT_TRUE(second.Read());
    EXPECT_EQ(second.policy().clients(), 2) << "not told of itself at once";
    ASSERT_TRUE(first.ReadClients(2));
    second.Cancel();
    EXPECT_EQ(second.End().error_code(), grpc::StatusCode::CANCELLED);
  }
  ASSERT_TRUE(first.ReadClients(1));
  EXPECT_THAT(first.names(), ElementsAre("per-user"));
  EXPECT_EQ(served.observer.watchers, 1);
}

TEST(WatchPolicy, SendsNewRulesWhole) {
  Served served(2, Fast());
  Watching watching(served);
  ASSERT_TRUE(watching.ReadRules());
  Set(served.limiter, {RuleOf("shop", "a"), RuleOf("mail", "b")});
  ASSERT_TRUE(watching.ReadRules());
  EXPECT_THAT(watching.names(), ElementsAre("a", "b"));
  Set(served.limiter, {});
  ASSERT_TRUE(watching.ReadRules());
  EXPECT_THAT(watching.names(), IsEmpty());
}

TEST(WatchPolicy, SendsManyRulesInPartsInTheirOrder) {
  Served served(2, Fast());
  Set(served.limiter, Rules(1000, ""));
  Watching watching(served);
  ASSERT_TRUE(watching.ReadRulesFrom("rule0"));
  EXPECT_GT(watching.policy().parts(), 2);
  ASSERT_EQ(watching.names().size(), 1000);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(watching.names()[i], absl::StrCat("rule", i));
  }
}

TEST(WatchPolicy, SendsOnlyTheDomainsThatAreAskedAbout) {
  Served served(2, Fast());
  Set(served.limiter,
      {RuleOf("shop", "a"), RuleOf("mail", "b"), RuleOf("shop", "c")});
  Watching shop(served, {"shop", "unknown"});
  ASSERT_TRUE(shop.ReadRulesFrom("a"));
  EXPECT_THAT(shop.names(), ElementsAre("a", "c"));
  Watching unknown(served, {"unknown"});
  ASSERT_TRUE(unknown.ReadRules());
  EXPECT_THAT(unknown.names(), IsEmpty());
}

TEST(WatchPolicy, ShowsThatItLivesThoughNothingChanges) {
  const Served served(2, Fast());
  Watching watching(served);
  ASSERT_TRUE(watching.Read());
  ASSERT_TRUE(watching.Read());
  EXPECT_EQ(watching.policy().parts(), 0);
  EXPECT_EQ(watching.policy().clients(), 1);
}

TEST(WatchPolicy, ASlowReaderGetsTheNewestInPlaceOfAllThatItMissed) {
  Served served(2, Fast());
  Set(served.limiter, Rules(2000, ".0"));
  Watching quick(served);
  Watching slow(served);
  ASSERT_TRUE(slow.Read());
  for (int i = 1; i <= 8; ++i) {
    Set(served.limiter, Rules(2000, absl::StrCat(".", i)));
    ASSERT_TRUE(quick.ReadRulesFrom(absl::StrCat("rule0.", i)));
  }
  ASSERT_TRUE(slow.ReadRulesFrom("rule0.8"));
  EXPECT_EQ(slow.names().back(), "rule1999.8");
  EXPECT_LT(slow.messages(), quick.messages() / 2);
}

TEST(WatchPolicy, RefusesABadRequestAndNamesTheField) {
  const Served served(2, Fast());
  Watching empty(served, {"shop", ""});
  grpc::Status status = empty.End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("domains[1]"));
  Watching many(served, std::vector<std::string>(1001, "shop"));
  status = many.End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("got 1001"));
  Watching enough(served, std::vector<std::string>(1000, "shop"));
  EXPECT_TRUE(enough.Read());
}

TEST(WatchPolicy, RefusesMoreClientsThanItTakesUntilOneLeaves) {
  RpcServerOptions options = Fast();
  options.max_watchers = 2;
  const Served served(2, options);
  Watching first(served);
  ASSERT_TRUE(first.Read());
  {
    Watching second(served);
    ASSERT_TRUE(second.Read());
    // So that what is read below is not from before.
    ASSERT_TRUE(first.ReadClients(2));
    Watching third(served);
    EXPECT_EQ(third.End().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    second.Cancel();
    EXPECT_FALSE(second.End().ok());
  }
  ASSERT_TRUE(first.ReadClients(1));
  Watching next(served);
  EXPECT_TRUE(next.Read());
}

TEST(WatchPolicy, RefusesRulesThatAreTooManyUnlessTheirDomainIsNamed) {
  Served served(2, Fast());
  std::vector<Rule> rules = Rules(2000, "");
  const std::string long_value(4096, 'v');
  for (Rule& rule : rules) rule.match[0].any_of = {Pattern::Exact(long_value)};
  rules.push_back(RuleOf("mail", "b"));
  Set(served.limiter, std::move(rules));
  Watching all(served);
  const grpc::Status status = all.End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("domains"));
  Watching mail(served, {"mail"});
  ASSERT_TRUE(mail.ReadRulesFrom("b"));
  EXPECT_THAT(mail.names(), ElementsAre("b"));
}

TEST(WatchPolicy, EndsOnceTheServerIsAboutToStop) {
  const Served served(2, Fast());
  Watching watching(served);
  ASSERT_TRUE(watching.Read());
  served.server->AnnounceShutdown();
  EXPECT_EQ(watching.End().error_code(), grpc::StatusCode::UNAVAILABLE);
  Watching late(served);
  EXPECT_EQ(late.End().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST(WatchPolicy, LetsADrainEndAlthoughNobodyReads) {
  Served served(2, Fast());
  Set(served.limiter, Rules(2000, ""));
  Watching idle(served);
  ASSERT_TRUE(idle.Read());
  Watching watching(served);
  ASSERT_TRUE(watching.ReadRulesFrom("rule0"));
  served.server->Drain(absl::Milliseconds(100));
  EXPECT_EQ(watching.End().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_FALSE(idle.End().ok());
  EXPECT_EQ(served.observer.watchers, 0);
}

TEST(WatchPolicy, TakesPeersThatComeAndLeaveFromManyThreads) {
  const Served served(2, Fast());
  Watching first(served);
  ASSERT_TRUE(first.Read());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&served, t] {
      for (int i = 0; i < 20; ++i) {
        Watching watching(served);
        if ((i + t) % 2 == 0) {
          EXPECT_TRUE(watching.Read());
        }
        watching.Cancel();
        EXPECT_FALSE(watching.End().ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(first.ReadClients(1));
}

}  // namespace
}  // namespace tollgate
