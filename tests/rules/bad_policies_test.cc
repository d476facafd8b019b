#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/rules/bad_file.h"

namespace tollgate {
namespace {

// A rule whose lists of values combine to `users` times `plans` cases.
std::string TwoLists(int users, int plans) {
  std::string yaml =
      "{domain: shop, rules: [{name: a, limit: 1/second, match: {user: [u";
  for (int i = 1; i < users; ++i) absl::StrAppend(&yaml, ", ", i);
  absl::StrAppend(&yaml, "], plan: [p");
  for (int i = 1; i < plans; ++i) absl::StrAppend(&yaml, ", ", i);
  return absl::StrCat(yaml, "]}}]}");
}

class BadPolicy : public testing::TestWithParam<BadFile> {};

TEST_P(BadPolicy, IsRefusedWithTheseWords) { ExpectRefused(GetParam()); }

std::vector<BadFile> BadPolicies() {
  return {
      {"MatchListIsEmpty",
       "{domain: shop, rules: [{name: a, limit: 1/second, match: {user: []}}]}",
       "r.yaml:1:65: rules[0].match.user: got an empty list, want one value or "
       "more"},
      {"MatchListHasAList",
       "{domain: shop, rules: [{name: a, limit: 1/second, match: {user: [a, "
       "[b], ~]}}]}",
       "r.yaml:1:65: rules[0].match.user[2]: got nothing, want the text to "
       "match, or \"\" for an empty value\n"
       "r.yaml:1:69: rules[0].match.user[1]: got a list, want the text to "
       "match, or \"\" for an empty value"},
      {"MatchListHasAValueTwice",
       "{domain: shop, rules: [{name: a, limit: 1/second, match: {user: [a, b, "
       "a]}}]}",
       "r.yaml:1:72: rules[0].match.user[2]: got \"a\" twice, want it once"},
      {"MatchListsCombineToTooMuch", TwoLists(501, 2),
       "r.yaml:1:58: rules[0].match: its lists combine to over 1000 cases: "
       "split the rule"},
      {"OverflowShareOfNothing",
       "{domain: shop, rules: [{name: a, limit: 1/second, overflow_share: "
       "0%}]}",
       "r.yaml:1:67: rules[0].overflow_share: got \"0%\", want a whole "
       "percentage, 1% to 10000%"},
      {"OverflowShareAboveTheMost",
       "{domain: shop, rules: [{name: a, limit: 1/second, overflow_share: "
       "10001%}]}",
       "r.yaml:1:67: rules[0].overflow_share: got \"10001%\", want a whole "
       "percentage, 1% to 10000%"},
      {"OverflowShareWithoutAPercentSign",
       "{domain: shop, rules: [{name: a, limit: 1/second, overflow_share: "
       "0.5}]}",
       "r.yaml:1:67: rules[0].overflow_share: got \"0.5\", want a whole "
       "percentage, 1% to 10000%"},
      {"OverflowShareThatTheAlgorithmCannotKeep",
       "{domain: shop, rules: [{name: a, limit: 10000/second, overflow_share: "
       "200%, algorithm: sliding_log}]}",
       "r.yaml:1:71: rules[0].overflow_share: 200% of 10000/1s: got 20000 "
       "tokens, want at most 10000 with sliding_log, which remembers each "
       "admission"},
      {"PrefixV4TooLong",
       "{domain: shop, rules: [{name: a, limit: 1/second, key: [{entry: ip, "
       "prefix: {v4: 33}}]}]}",
       "r.yaml:1:82: rules[0].key[0].prefix.v4: got \"33\", want a whole "
       "number, 0 to 32"},
      {"PrefixV6TooLong",
       "{domain: shop, rules: [{name: a, limit: 1/second, key: [{entry: ip, "
       "prefix: {v6: 129}}]}]}",
       "r.yaml:1:82: rules[0].key[0].prefix.v6: got \"129\", want a whole "
       "number, 0 to 128"},
      {"NegativePrefix",
       "{domain: shop, rules: [{name: a, limit: 1/second, key: [{entry: ip, "
       "prefix: {v4: -1}}]}]}",
       "r.yaml:1:82: rules[0].key[0].prefix.v4: got \"-1\", want a whole "
       "number, 0 to 32"},
      {"PrefixIsANumber",
       "{domain: shop, rules: [{name: a, limit: 1/second, key: [{entry: ip, "
       "prefix: 24}]}]}",
       "r.yaml:1:77: rules[0].key[0].prefix: got \"24\", want the bits of an "
       "address that count, such as {v4: 32, v6: 64}"},
      {"PrefixOfAnUnknownFamily",
       "{domain: shop, rules: [{name: a, limit: 1/second, key: [{entry: ip, "
       "prefix: {ipv4: 24}}]}]}",
       "r.yaml:1:78: rules[0].key[0].prefix.ipv4: got an unknown field, want "
       "one of v4, v6"},
      {"PrefixWithoutAnEntry",
       "{domain: shop, rules: [{name: a, limit: 1/second, key: [{prefix: {v4: "
       "24}}]}]}",
       "r.yaml:1:57: rules[0].key[0].entry: got nothing, want one entry key, "
       "such as ip; alternatives are a list: [api_key, {entry: ip}]"},
      {"UnknownFieldOfAKeyPart",
       "{domain: shop, rules: [{name: a, limit: 1/second, key: [{entry: ip, "
       "prefx: {v4: 24}}]}]}",
       "r.yaml:1:69: rules[0].key[0].prefx: got an unknown field, want one of "
       "entry, prefix; did you mean \"prefix\"?"},
      {"AlternativesInsideAnEntry",
       "{domain: shop, rules: [{name: a, limit: 1/second, key: [{entry: "
       "api_key | ip, prefix: {v4: 24}}]}]}",
       "r.yaml:1:65: rules[0].key[0].entry: got \"api_key | ip\", want one "
       "entry key, such as ip; alternatives are a list: [api_key, {entry: "
       "ip}]"},
      {"AlternativesInsideAList",
       "{domain: shop, rules: [{name: a, limit: 1/second, key: [[user, api_key "
       "| ip]]}]}",
       "r.yaml:1:64: rules[0].key[0][1]: got \"api_key | ip\", want one entry "
       "key, such as ip; alternatives are a list: [api_key, {entry: ip}]"},
      {"NoAlternatives",
       "{domain: shop, rules: [{name: a, limit: 1/second, key: [[]]}]}",
       "r.yaml:1:57: rules[0].key[0]: got 0 alternatives, want 1 to 32"},
      {"AlternativeTwiceInAList",
       "{domain: shop, rules: [{name: a, limit: 1/second, key: [[ip, {entry: "
       "ip, prefix: {}}]]}]}",
       "r.yaml:1:57: rules[0].key[0]: got \"ip\" twice, want each entry once"},
      {"TierBesideLimit",
       "{domain: shop, rules: [{name: a, limit: 1/second, tier: {entry: plan, "
       "limits: {free: 1/second}}}]}",
       "r.yaml:1:57: rules[0].tier: got it beside limit, want one of the two"},
      {"TierWithBurst",
       "{domain: shop, rules: [{name: a, burst: 2, tier: {entry: plan, limits: "
       "{free: 1/second}}}]}",
       "r.yaml:1:41: rules[0].burst: got \"2\" with a tier, want burst with "
       "one limit"},
      {"TierIsText", "{domain: shop, rules: [{name: a, tier: plan}]}",
       "r.yaml:1:40: rules[0].tier: got \"plan\", want a tier, such as {entry: "
       "plan, limits: {free: 1/second, paid: 9/second}}"},
      {"EmptyTier", "{domain: shop, rules: [{name: a, tier: {}}]}",
       "r.yaml:1:40: rules[0].tier.entry: got nothing, want the entry that "
       "names the tier, such as plan\n"
       "r.yaml:1:40: rules[0].tier.limits: got nothing, want a map of tiers to "
       "limits, such as {free: 1/second, paid: 9/second}"},
      {"TierWithoutTiers",
       "{domain: shop, rules: [{name: a, tier: {entry: plan, limits: {}}}]}",
       "r.yaml:1:62: rules[0].tier.limits: got 0 tiers, want 1 to 64"},
      {"BadLimitOfATier",
       "{domain: shop, rules: [{name: a, tier: {entry: plan, limits: {free: "
       "0/second, paid: [1/second, 9]}}}]}",
       "r.yaml:1:69: rules[0].tier.limits.free: got \"0/second\", want at "
       "least 1 token\n"
       "r.yaml:1:85: rules[0].tier.limits.paid: got 2 limits, want 1 as in the "
       "first tier\n"
       "r.yaml:1:96: rules[0].tier.limits.paid[1]: got \"9\", want "
       "tokens/period, such as 9/second"},
      {"TiersOfDifferentLengths",
       "{domain: shop, rules: [{name: a, tier: {entry: plan, limits: {free: "
       "1/second, paid: [1/second, 9/day]}}}]}",
       "r.yaml:1:85: rules[0].tier.limits.paid: got 2 limits, want 1 as in the "
       "first tier"},
      {"UnknownDefaultTier",
       "{domain: shop, rules: [{name: a, tier: {entry: plan, limits: {free: "
       "1/second, paid: 9/second}, default: fre}}]}",
       "r.yaml:1:105: rules[0].tier.default: got \"fre\", want the name of a "
       "tier in limits; did you mean \"free\"?"},
      {"UnknownFieldOfATier",
       "{domain: shop, rules: [{name: a, tier: {entry: plan, limit: {free: "
       "1/second}}}]}",
       "r.yaml:1:40: rules[0].tier.limits: got nothing, want a map of tiers to "
       "limits, such as {free: 1/second, paid: 9/second}\n"
       "r.yaml:1:54: rules[0].tier.limit: got an unknown field, want one of "
       "entry, limits, default; did you mean \"limits\"?"},
      {"TierWithoutAName",
       "{domain: shop, rules: [{name: a, tier: {entry: plan, limits: {'': "
       "1/second}}}]}",
       "r.yaml:1:63: rules[0].tier.limits.: got 0 bytes, want 1 to 4096"},
      {"PenaltyWithoutABlock",
       "{domain: shop, rules: [{name: a, limit: 1/second, penalty: {after: "
       "100/minute}}]}",
       "r.yaml:1:60: rules[0].penalty.block: got nothing, want a duration, "
       "such as 500ms, 30s, 10m, 1h, 7d or 1h30m"},
      {"PenaltyWithoutAnAfter",
       "{domain: shop, rules: [{name: a, limit: 1/second, penalty: {block: "
       "10m}}]}",
       "r.yaml:1:60: rules[0].penalty.after: got nothing, want "
       "refusals/period, such as 100/minute"},
      {"PenaltyWithBadParts",
       "{domain: shop, rules: [{name: a, limit: 1/second, penalty: {after: "
       "100, block: 10}}]}",
       "r.yaml:1:68: rules[0].penalty.after: got \"100\", want tokens/period, "
       "such as 100/second\n"
       "r.yaml:1:80: rules[0].penalty.block: got \"10\", want a duration, such "
       "as 500ms, 30s, 10m, 1h, 7d or 1h30m"},
      {"BlockOfNothing",
       "{domain: shop, rules: [{name: a, limit: 1/second, penalty: {after: "
       "1/minute, block: 0s}}]}",
       "r.yaml:1:85: rules[0].penalty.block: got \"0s\", want a duration of at "
       "least 1ns"},
      {"BlockTooLong",
       "{domain: shop, rules: [{name: a, limit: 1/second, penalty: {after: "
       "1/minute, block: 3651d}}]}",
       "r.yaml:1:85: rules[0].penalty.block: got \"3651d\", want a duration of "
       "at most 10 years (3650d)"},
      {"BlockIsAFraction",
       "{domain: shop, rules: [{name: a, limit: 1/second, penalty: {after: "
       "1/minute, block: 1.5h}}]}",
       "r.yaml:1:85: rules[0].penalty.block: got \"1.5h\", want a duration in "
       "whole numbers: 1500ms, not 1.5s"},
      {"BlockIsAWord",
       "{domain: shop, rules: [{name: a, limit: 1/second, penalty: {after: "
       "1/minute, block: minute}}]}",
       "r.yaml:1:85: rules[0].penalty.block: got \"minute\", want a duration, "
       "such as 500ms, 30s, 10m, 1h, 7d or 1h30m"},
      {"BlockIsNegative",
       "{domain: shop, rules: [{name: a, limit: 1/second, penalty: {after: "
       "1/minute, block: -10m}}]}",
       "r.yaml:1:85: rules[0].penalty.block: got \"-10m\", want a duration, "
       "such as 500ms, 30s, 10m, 1h, 7d or 1h30m"},
      {"PenaltyIsText",
       "{domain: shop, rules: [{name: a, limit: 1/second, penalty: 10m}]}",
       "r.yaml:1:60: rules[0].penalty: got \"10m\", want a penalty, such as "
       "{after: 100/minute, block: 10m}"},
      {"ReserveWithoutAnEntry",
       "{domain: shop, rules: [{name: a, limit: 1/second, reserve: {shares: "
       "{a: 10%}}}]}",
       "r.yaml:1:60: rules[0].reserve.entry: got nothing, want the entry that "
       "names the share, such as priority"},
      {"ReserveWithoutShares",
       "{domain: shop, rules: [{name: a, limit: 1/second, reserve: {entry: "
       "priority}}]}",
       "r.yaml:1:60: rules[0].reserve.shares: got nothing, want a map of "
       "values to percentages, such as {critical: 0%, batch: 20%}"},
      {"NoShares",
       "{domain: shop, rules: [{name: a, limit: 1/second, reserve: {entry: "
       "priority, shares: {}}}]}",
       "r.yaml:1:86: rules[0].reserve.shares: got 0 shares, want 1 to 64"},
      {"ShareOfAllThereIs",
       "{domain: shop, rules: [{name: a, limit: 1/second, reserve: {entry: "
       "priority, shares: {a: 99%, b: 100%}}}]}",
       "r.yaml:1:98: rules[0].reserve.shares.b: got \"100%\", want a whole "
       "percentage, 0% to 99%"},
      {"ShareIsNoPercentage",
       "{domain: shop, rules: [{name: a, limit: 1/second, reserve: {entry: "
       "priority, shares: {a: 20, b: -1%, c: 0.5%, d: '%'}}}]}",
       "r.yaml:1:90: rules[0].reserve.shares.a: got \"20\", want a whole "
       "percentage, 0% to 99%\n"
       "r.yaml:1:97: rules[0].reserve.shares.b: got \"-1%\", want a whole "
       "percentage, 0% to 99%\n"
       "r.yaml:1:105: rules[0].reserve.shares.c: got \"0.5%\", want a whole "
       "percentage, 0% to 99%\n"
       "r.yaml:1:114: rules[0].reserve.shares.d: got \"%\", want a whole "
       "percentage, 0% to 99%"},
      {"UnknownDefaultShare",
       "{domain: shop, rules: [{name: a, limit: 1/second, reserve: {entry: "
       "priority, shares: {critical: 0%}, default: high}}]}",
       "r.yaml:1:111: rules[0].reserve.default: got \"high\", want the name of "
       "a share"},
      {"ModeOfAnotherName",
       "{domain: shop, rules: [{name: a, limit: 1/second, mode: {shadow: "
       "25%}}]}",
       "r.yaml:1:58: rules[0].mode.shadow: got an unknown field, want one of "
       "enforce"},
      {"EnforceMoreThanAll",
       "{domain: shop, rules: [{name: a, limit: 1/second, mode: {enforce: "
       "101%}}]}",
       "r.yaml:1:67: rules[0].mode.enforce: got \"101%\", want a whole "
       "percentage, 0% to 100%"},
      {"EnforceIsNoPercentage",
       "{domain: shop, rules: [{name: a, limit: 1/second, mode: {enforce: "
       "0.25}}]}",
       "r.yaml:1:67: rules[0].mode.enforce: got \"0.25\", want a whole "
       "percentage, 0% to 100%"},
      {"ModeIsAnEmptyMap",
       "{domain: shop, rules: [{name: a, limit: 1/second, mode: {}}]}",
       "r.yaml:1:57: rules[0].mode: got an empty map, want enforce, shadow, "
       "off or {enforce: 25%}"},
      {"UnknownOutagePolicy",
       "{domain: shop, rules: [{name: a, limit: 1/second, on_outage: deny}]}",
       "r.yaml:1:62: rules[0].on_outage: got \"deny\", want allow, refuse or "
       "backstop"},
      {"OutagePolicyIsAList",
       "{domain: shop, rules: [{name: a, limit: 1/second, on_outage: "
       "[allow]}]}",
       "r.yaml:1:62: rules[0].on_outage: got a list, want allow, refuse or "
       "backstop"},
      {"UnlimitedIsNeitherTrueNorFalse",
       "{domain: shop, rules: [{name: a, unlimited: yes}]}",
       "r.yaml:1:45: rules[0].unlimited: got \"yes\", want true or false"},
      {"UnlimitedBesideAllThatTakes",
       "domain: shop\n"
       "rules:\n"
       "- name: a\n"
       "  unlimited: true\n"
       "  key: [u]\n"
       "  limit: 1/second\n"
       "  burst: 1\n"
       "  tier: {}\n"
       "  algorithm: x\n"
       "  max_delay: 1s\n"
       "  slot_ttl: 1s\n"
       "  cost: 1\n"
       "  penalty: {after: 1/second, block: 1s}\n"
       "  reserve: {entry: p, shares: {a: 0%}}\n"
       "  on_outage: allow\n",
       "r.yaml:5:8: rules[0].key: got it beside unlimited: true, want it left "
       "out: such a rule limits nothing\n"
       "r.yaml:6:10: rules[0].limit: got it beside unlimited: true, want it "
       "left out: such a rule limits nothing\n"
       "r.yaml:7:10: rules[0].burst: got it beside unlimited: true, want it "
       "left out: such a rule limits nothing\n"
       "r.yaml:8:9: rules[0].tier: got it beside unlimited: true, want it left "
       "out: such a rule limits nothing\n"
       "r.yaml:9:14: rules[0].algorithm: got \"x\", want one of token_bucket, "
       "fixed_window, sliding_window, sliding_log, leaky_bucket, concurrency\n"
       "r.yaml:9:14: rules[0].algorithm: got it beside unlimited: true, want "
       "it left out: such a rule limits nothing\n"
       "r.yaml:10:14: rules[0].max_delay: got it beside unlimited: true, want "
       "it left out: such a rule limits nothing\n"
       "r.yaml:11:13: rules[0].slot_ttl: got it beside unlimited: true, want "
       "it left out: such a rule limits nothing\n"
       "r.yaml:12:9: rules[0].cost: got it beside unlimited: true, want it "
       "left out: such a rule limits nothing\n"
       "r.yaml:13:12: rules[0].penalty: got it beside unlimited: true, want it "
       "left out: such a rule limits nothing\n"
       "r.yaml:14:12: rules[0].reserve: got it beside unlimited: true, want it "
       "left out: such a rule limits nothing\n"
       "r.yaml:15:14: rules[0].on_outage: got it beside unlimited: true, want "
       "it left out: such a rule limits nothing"},
      {"UnlimitedForAPercentage",
       "{domain: shop, rules: [{name: a, unlimited: true, mode: {enforce: "
       "25%}}]}",
       "r.yaml:1:57: rules[0].mode: got a percentage beside unlimited: true, "
       "want enforce, shadow or off: such a rule has no keys to divide"},
      {"NotUnlimitedAndNoLimit",
       "{domain: shop, rules: [{name: a, unlimited: false}]}",
       "r.yaml:1:24: rules[0].limit: got nothing, want tokens/period, such as "
       "10/second, or a list of those"},
      {"SkipsWithoutUnlimited",
       "{domain: shop, rules: [{name: a, limit: 1/second, skips: [a]}]}",
       "r.yaml:1:58: rules[0].skips: got it without unlimited: true, want it "
       "left out"},
      {"SkipsIsText",
       "{domain: shop, rules: [{name: a, unlimited: true, skips: a}]}",
       "r.yaml:1:58: rules[0].skips: got \"a\", want a list of rules' names, "
       "such as [per-user]"},
      {"SkipsNothing",
       "{domain: shop, rules: [{name: a, unlimited: true, skips: []}]}",
       "r.yaml:1:58: rules[0].skips: got an empty list, want names, or no "
       "skips to skip all rules"},
      {"SkipsTwice",
       "{domain: shop, rules: [{name: a, unlimited: true, skips: [a, a]}]}",
       "r.yaml:1:62: rules[0].skips[1]: got \"a\" twice, want it once"},
      {"SkipsAListAndNull",
       "{domain: shop, rules: [{name: a, unlimited: true, skips: [[a]]}]}",
       "r.yaml:1:59: rules[0].skips[0]: got a list, want the name of a rule"},
      {"SkipsARuleThatIsNotThere",
       "domain: shop\n"
       "rules:\n"
       "  - {name: staff, unlimited: true, skips: [per-user, nobody]}\n"
       "  - {name: per-user, limit: 0/second}\n",
       "r.yaml:3:54: rules[0].skips[1]: got \"nobody\", want the name of a "
       "rule in domain \"shop\"\n"
       "r.yaml:4:29: rules[1].limit: got \"0/second\", want at least 1 token"},
      {"MaxDelayWithTheDefault",
       "{domain: shop, rules: [{name: a, limit: 1/second, max_delay: 2s}]}",
       "r.yaml:1:62: rules[0].max_delay: got \"2s\" with token_bucket, want it "
       "with leaky_bucket alone"},
      {"LeakyBucketWithoutMaxDelay",
       "{domain: shop, rules: [{name: a, limit: 1/second, algorithm: "
       "leaky_bucket}]}",
       "r.yaml:1:24: rules[0].max_delay: got nothing, want a duration, such as "
       "500ms, 30s, 10m, 1h, 7d or 1h30m, with leaky_bucket"},
      {"MaxDelayOfNothing",
       "{domain: shop, rules: [{name: a, limit: 1/second, algorithm: "
       "leaky_bucket, max_delay: 0s}]}",
       "r.yaml:1:87: rules[0].max_delay: got \"0s\", want a duration of at "
       "least 1ns"},
      {"MaxDelayIsANumber",
       "{domain: shop, rules: [{name: a, limit: 1/second, algorithm: "
       "leaky_bucket, max_delay: 2}]}",
       "r.yaml:1:87: rules[0].max_delay: got \"2\", want a duration, such as "
       "500ms, 30s, 10m, 1h, 7d or 1h30m"},
      {"MaxDelayTooLong",
       "{domain: shop, rules: [{name: a, limit: 1/second, algorithm: "
       "leaky_bucket, max_delay: 3650d1ns}]}",
       "r.yaml:1:87: rules[0].max_delay: got \"3650d1ns\", want a duration of "
       "at most 10 years (3650d)"},
      {"SlotTtlWithAnotherAlgorithm",
       "{domain: shop, rules: [{name: a, limit: 1/second, algorithm: "
       "fixed_window, slot_ttl: 30s}]}",
       "r.yaml:1:86: rules[0].slot_ttl: got \"30s\" with fixed_window, want it "
       "with concurrency alone"},
      {"ConcurrencyWithoutSlotTtl",
       "{domain: shop, rules: [{name: a, limit: 2, algorithm: concurrency}]}",
       "r.yaml:1:24: rules[0].slot_ttl: got nothing, want a duration, such as "
       "500ms, 30s, 10m, 1h, 7d or 1h30m, with concurrency"},
      {"ConcurrencyWithoutALimit",
       "{domain: shop, rules: [{name: a, algorithm: concurrency, slot_ttl: "
       "30s}]}",
       "r.yaml:1:24: rules[0].limit: got nothing, want a number of slots with "
       "concurrency, such as 2"},
      {"ConcurrencyPerSecond",
       "{domain: shop, rules: [{name: a, limit: 2/second, algorithm: "
       "concurrency, slot_ttl: 30s}]}",
       "r.yaml:1:41: rules[0].limit: got \"2/second\", want a number of slots "
       "with concurrency, such as 2"},
      {"NoSlots",
       "{domain: shop, rules: [{name: a, limit: 0, algorithm: concurrency, "
       "slot_ttl: 30s}]}",
       "r.yaml:1:41: rules[0].limit: got \"0\", want a number of slots with "
       "concurrency, such as 2"},
      {"TooManySlots",
       "{domain: shop, rules: [{name: a, limit: 10001, algorithm: concurrency, "
       "slot_ttl: 30s}]}",
       "r.yaml:1:41: rules[0].limit: got 10001 slots, want at most 10000 with "
       "concurrency"},
      {"SlotTtlOfNothing",
       "{domain: shop, rules: [{name: a, limit: 2, algorithm: concurrency, "
       "slot_ttl: 0ms}]}",
       "r.yaml:1:78: rules[0].slot_ttl: got \"0ms\", want a duration of at "
       "least 1ns"},
      {"ConcurrencyWithBurst",
       "{domain: shop, rules: [{name: a, limit: 2, algorithm: concurrency, "
       "slot_ttl: 30s, burst: 2}]}",
       "r.yaml:1:90: rules[0].burst: got \"2\" with concurrency, which has no "
       "burst: leave it out"},
      {"ConcurrencyWithMaxDelay",
       "{domain: shop, rules: [{name: a, limit: 2, algorithm: concurrency, "
       "slot_ttl: 30s, max_delay: 1s}]}",
       "r.yaml:1:94: rules[0].max_delay: got \"1s\" with concurrency, want it "
       "with leaky_bucket alone"},
      {"SlidingLogOfTooMuch",
       "{domain: shop, rules: [{name: a, limit: 10001/minute, algorithm: "
       "sliding_log}]}",
       "r.yaml:1:41: rules[0].limit: got 10001 tokens, want at most 10000 with "
       "sliding_log, which remembers each admission"},
      {"FixedWindowWithBurst",
       "{domain: shop, rules: [{name: a, limit: 1/second, algorithm: "
       "fixed_window, burst: 1}]}",
       "r.yaml:1:83: rules[0].burst: got \"1\" with fixed_window, which has no "
       "burst: leave it out"},
      {"SlidingWindowWithBurst",
       "{domain: shop, rules: [{name: a, limit: 1/second, algorithm: "
       "sliding_window, burst: 2}]}",
       "r.yaml:1:85: rules[0].burst: got \"2\" with sliding_window, which has "
       "no burst: leave it out"},
      {"SlidingLogWithBurst",
       "{domain: shop, rules: [{name: a, limit: 1/second, burst: 2, algorithm: "
       "sliding_log}]}",
       "r.yaml:1:58: rules[0].burst: got \"2\" with sliding_log, which has no "
       "burst: leave it out"},
      {"PeriodAfterAWord",
       "{domain: shop, rules: [{name: a, limit: 1/second5m}]}",
       "r.yaml:1:41: rules[0].limit: got \"1/second5m\", want a period in "
       "second, minute, hour, day, week, month, year, or a count of those or "
       "of ns, us, ms, s, m, h, d, w, not \"second5m\"; did you mean "
       "\"second\"?"},
  };
}

INSTANTIATE_TEST_SUITE_P(All, BadPolicy, testing::ValuesIn(BadPolicies()),
                         NameOfBadFile);

}  // namespace
}  // namespace tollgate
