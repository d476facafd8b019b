#include "server/limiter/key_text.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"

namespace tollgate {
namespace {

std::string TextOf(const Rule& rule, const std::vector<Entry>& entries,
                   size_t max_bytes = 256) {
  return KeyText(rule, Descriptor(entries), max_bytes);
}

TEST(KeyText, NamesEveryPartInTheOrderOfTheRule) {
  const Rule rule = MakeRule("r", {"user", "ip"}, {PerSecond(1)});
  EXPECT_EQ(TextOf(rule, {{"ip", "192.0.2.1"}, {"a", "b"}, {"user", "ana"}}),
            "user=ana, ip=192.0.2.1");
}

TEST(KeyText, IsEmptyWhereTheRuleHasOneBucketForAll) {
  EXPECT_EQ(TextOf(MakeRule("r", {}, {PerSecond(1)}), {{"user", "ana"}}), "");
}

TEST(KeyText, NamesTheAlternativeThatTheDescriptorHas) {
  Rule rule = MakeRule("r", {}, {PerSecond(1)});
  rule.key = {Part({"api_key", "ip"})};
  EXPECT_EQ(TextOf(rule, {{"ip", "x"}}), "ip=x");
  EXPECT_EQ(TextOf(rule, {{"ip", "x"}, {"api_key", ""}}), "api_key=");
}

TEST(KeyText, ShowsTheNetworkThatIsTheKeyAndPassesOverWhatIsNoAddress) {
  Rule rule = MakeRule("r", {}, {PerSecond(1)});
  rule.key = {
      KeyPart{{KeySource{"ip", AddressPrefix{24, 64}}, KeySource{"user", {}}}}};
  EXPECT_EQ(TextOf(rule, {{"ip", "192.0.2.77"}, {"user", "ana"}}),
            "ip=192.0.2.0/24");
  EXPECT_EQ(TextOf(rule, {{"ip", "nowhere"}, {"user", "ana"}}), "user=ana");
}

TEST(KeyText, CutsAboveTheBytesThatAreWantedAndMarksIt) {
  const Rule rule = MakeRule("r", {"u", "v"}, {PerSecond(1)});
  EXPECT_EQ(TextOf(rule, {{"u", "1234"}, {"v", "5"}}, 11), "u=1234, v=5");
  EXPECT_EQ(TextOf(rule, {{"u", "1234"}, {"v", "5"}}, 10), "u=1234, v=…");
  EXPECT_EQ(TextOf(rule, {{"u", "1234"}, {"v", "5"}}, 3), "u=1…");
}

TEST(KeyText, CutsBetweenCharacters) {
  const Rule rule = MakeRule("r", {"u"}, {PerSecond(1)});
  // "u=" and characters of 2, 3 and 4 bytes.
  EXPECT_EQ(TextOf(rule, {{"u", "é€😀"}}, 11), "u=é€😀");
  EXPECT_EQ(TextOf(rule, {{"u", "é€😀"}}, 10), "u=é€…");
  EXPECT_EQ(TextOf(rule, {{"u", "é€😀"}}, 7), "u=é€…");
  EXPECT_EQ(TextOf(rule, {{"u", "é€😀"}}, 6), "u=é…");
  EXPECT_EQ(TextOf(rule, {{"u", "é€😀"}}, 3), "u=…");
}

}  // namespace
}  // namespace tollgate
