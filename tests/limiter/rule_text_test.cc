#include "server/limiter/rule_text.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace tollgate {
namespace {

Limit Rate(uint64_t tokens, absl::Duration period) {
  return *Limit::Create(tokens, period);
}

TEST(RuleText, SaysALimitAsItsFileDoes) {
  Rule rule;
  rule.algorithm = FindAlgorithm("token_bucket");
  EXPECT_EQ(LimitText(rule, Rate(10, absl::Seconds(1))), "10/second");
  EXPECT_EQ(LimitText(rule, Rate(10, absl::Hours(24 * 30))), "10/month");
  EXPECT_EQ(LimitText(rule, Rate(10, absl::Hours(24 * 3))), "10/72h");
  EXPECT_EQ(LimitText(rule, Rate(1, absl::Milliseconds(600))), "1/600ms");
  EXPECT_EQ(LimitText(rule, *Limit::Create(1, absl::Minutes(1), 5)),
            "1/minute burst 5");
  rule.algorithm = FindAlgorithm("leaky_bucket");
  EXPECT_EQ(
      LimitText(rule, *Rate(9, absl::Hours(1)).WithHold(absl::Seconds(5))),
      "9/hour max_delay 5s");
  rule.algorithm = FindAlgorithm("concurrency");
  EXPECT_EQ(LimitText(rule, Rate(2, absl::Seconds(30))),
            "2 at once, slot_ttl 30s");
}

TEST(RuleText, SaysWhatARuleAsksForAsItsFileDoes) {
  EXPECT_EQ(
      ToText(Condition{"path", {Pattern::Parse("/a/*"), Pattern::Exact("/b")}}),
      "path = /a/* or /b");
  EXPECT_EQ(ToText(KeyPart{{{"api_key", {}}, {"ip", AddressPrefix{24, 56}}}}),
            "api_key | ip (v4 /24, v6 /56)");
}

TEST(RuleText, SaysAModeWithItsPercentage) {
  Rule rule;
  EXPECT_EQ(ModeText(rule), "enforce");
  rule.enforce_percent = 25;
  EXPECT_EQ(ModeText(rule), "enforce 25%");
  rule.mode = Mode::kShadow;
  EXPECT_EQ(ModeText(rule), "shadow");
}

TEST(RuleText, SaysWhomAnAllowListSkips) {
  Rule rule;
  rule.unlimited = true;
  EXPECT_EQ(NotesText(rule), std::vector<std::string>{"skips all rules"});
  rule.skips = {"a", "b"};
  EXPECT_EQ(NotesText(rule), std::vector<std::string>{"skips a, b"});
}

}  // namespace
}  // namespace tollgate
