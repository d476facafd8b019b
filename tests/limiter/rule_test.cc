#include "server/limiter/rule.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

Rule Good() { return MakeRule("per-user", {"user"}, {PerSecond(10)}); }

std::vector<KeyPart> Parts(size_t count) {
  std::vector<KeyPart> parts;
  for (size_t i = 0; i < count; ++i) {
    parts.push_back(Part({"k" + std::to_string(i)}));
  }
  return parts;
}

TEST(ValidateRule, TakesAnOrdinaryRule) {
  EXPECT_THAT(ValidateRule(Good()), IsOk());
}

TEST(ValidateRule, TakesARuleWithOneBucketForAll) {
  Rule rule = Good();
  rule.key.clear();
  EXPECT_THAT(ValidateRule(rule), IsOk());
}

TEST(ValidateRule, WantsADomainOfOneTo256Bytes) {
  Rule rule = Good();
  rule.domain = "";
  EXPECT_THAT(ValidateRule(rule), StatusIs(kInvalid, StartsWith("domain: ")));
  rule.domain = std::string(256, 'd');
  EXPECT_THAT(ValidateRule(rule), IsOk());
  rule.domain = std::string(257, 'd');
  EXPECT_THAT(ValidateRule(rule),
              StatusIs(kInvalid,
                       AllOf(StartsWith("domain: got 257"), HasSubstr("256"))));
}

TEST(ValidateRule, WantsANameOfOneTo128Bytes) {
  Rule rule = Good();
  rule.name = "";
  EXPECT_THAT(ValidateRule(rule), StatusIs(kInvalid, StartsWith("name: ")));
  rule.name = std::string(128, 'n');
  EXPECT_THAT(ValidateRule(rule), IsOk());
  rule.name = std::string(129, 'n');
  EXPECT_THAT(
      ValidateRule(rule),
      StatusIs(kInvalid, AllOf(StartsWith("name: got 129"), HasSubstr("128"))));
}

TEST(ValidateRule, WantsANameThatCanBeAMetricsLabelAndALogWord) {
  Rule rule = Good();
  for (const std::string& bad :
       {std::string("a\nb"), std::string("a\x1F"), std::string("\x7F"),
        std::string("a\0b", 3), std::string("\xFF")}) {
    rule.name = bad;
    EXPECT_THAT(ValidateRule(rule), StatusIs(kInvalid, StartsWith("name: ")));
  }
  for (const char* good : {" ", "~", "per user", "z\xC3\xBCrich"}) {
    rule.name = good;
    EXPECT_THAT(ValidateRule(rule), IsOk()) << good;
  }
}

TEST(ValidateRule, WantsAtMost32EntriesToMatch) {
  Rule rule = Good();
  for (int i = 0; i < 32; ++i) {
    rule.match.push_back(Is("m" + std::to_string(i), "v"));
  }
  EXPECT_THAT(ValidateRule(rule), IsOk());
  rule.match.push_back(Is("m32", "v"));
  EXPECT_THAT(ValidateRule(rule), StatusIs(kInvalid, StartsWith("match: ")));
}

TEST(ValidateRule, WantsMatchKeysAndValuesThatARequestCouldHave) {
  Rule rule = Good();
  const auto with = [&rule](std::string key, std::string value) {
    rule.match = {Is(std::move(key), value)};
    return ValidateRule(rule);
  };
  EXPECT_THAT(with("", "v"), StatusIs(kInvalid, StartsWith("match.")));
  EXPECT_THAT(with(std::string(256, 'k'), ""), IsOk());
  EXPECT_THAT(with(std::string(257, 'k'), ""),
              StatusIs(kInvalid, StartsWith("match.")));
  EXPECT_THAT(with("k", std::string(4096, 'v')), IsOk());
  EXPECT_THAT(with("k", std::string(4097, 'v')),
              StatusIs(kInvalid, StartsWith("match.k: ")));
  EXPECT_THAT(with("k", "\xFF"), StatusIs(kInvalid, StartsWith("match.k: ")));
}

TEST(ValidateRule, RefusesAMatchThatNamesAnEntryTwice) {
  Rule rule = Good();
  rule.match = {Is("endpoint", "/a"), Is("plan", "x"), Is("endpoint", "/b")};

  EXPECT_THAT(ValidateRule(rule),
              StatusIs(kInvalid, StartsWith("match.endpoint: ")));
}

TEST(ValidateRule, WantsAtMost32KeyParts) {
  Rule rule = Good();
  rule.key = Parts(32);
  EXPECT_THAT(ValidateRule(rule), IsOk());
  rule.key = Parts(33);
  EXPECT_THAT(ValidateRule(rule), StatusIs(kInvalid, StartsWith("key: ")));
}

TEST(ValidateRule, WantsOneTo32AlternativesInAKeyPart) {
  Rule rule = Good();
  rule.key = {Part({"user"}), Part({})};
  EXPECT_THAT(ValidateRule(rule), StatusIs(kInvalid, StartsWith("key[1]: ")));

  KeyPart many;
  for (int i = 0; i < 32; ++i)
    many.alternatives.push_back({std::to_string(i), std::nullopt});
  rule.key = {many};
  EXPECT_THAT(ValidateRule(rule), IsOk());
  many.alternatives.push_back({"32", std::nullopt});
  rule.key = {many};
  EXPECT_THAT(ValidateRule(rule), StatusIs(kInvalid, StartsWith("key[0]: ")));
}

TEST(ValidateRule, WantsEntryNamesOfOneTo256BytesInTheKey) {
  Rule rule = Good();
  rule.key = {Part({"user", ""})};
  EXPECT_THAT(ValidateRule(rule), StatusIs(kInvalid, StartsWith("key[0]: ")));
  rule.key = {Part({std::string(256, 'k')})};
  EXPECT_THAT(ValidateRule(rule), IsOk());
  rule.key = {Part({std::string(257, 'k')})};
  EXPECT_THAT(ValidateRule(rule), StatusIs(kInvalid, StartsWith("key[0]: ")));
}

TEST(ValidateRule, RefusesAKeyThatNamesAnEntryTwice) {
  Rule rule = Good();
  rule.key = {Part({"user"}), Part({"ip", "user"})};
  EXPECT_THAT(
      ValidateRule(rule),
      StatusIs(kInvalid, AllOf(StartsWith("key[1]: "), HasSubstr("\"user\""))));
  rule.key = {Part({"ip", "ip"})};
  EXPECT_THAT(ValidateRule(rule), StatusIs(kInvalid, StartsWith("key[0]: ")));
}

TEST(ValidateRule, WantsOneTo16Limits) {
  Rule rule = Good();
  rule.limits.clear();
  EXPECT_THAT(ValidateRule(rule), StatusIs(kInvalid, StartsWith("limit: ")));
  rule.limits.assign(16, PerSecond(1));
  EXPECT_THAT(ValidateRule(rule), IsOk());
  rule.limits.assign(17, PerSecond(1));
  EXPECT_THAT(
      ValidateRule(rule),
      StatusIs(kInvalid, AllOf(StartsWith("limit: got 17"), HasSubstr("16"))));
}

TEST(ValidateRule, WantsAnAlgorithmAndSaysWhichThereAre) {
  Rule rule = Good();
  rule.algorithm = nullptr;

  EXPECT_THAT(ValidateRule(rule),
              StatusIs(kInvalid, AllOf(StartsWith("algorithm: "),
                                       HasSubstr("token_bucket"))));
}

TEST(ValidateRule, WantsACostOfOneTo4294967295) {
  Rule rule = Good();
  rule.cost = 0;
  EXPECT_THAT(ValidateRule(rule),
              StatusIs(kInvalid, StartsWith("cost: got 0")));
  rule.cost = 4294967295;
  EXPECT_THAT(ValidateRule(rule), IsOk());
  rule.cost = 4294967296;
  EXPECT_THAT(ValidateRule(rule),
              StatusIs(kInvalid, StartsWith("cost: got 4294967296")));
}

}  // namespace
}  // namespace tollgate
