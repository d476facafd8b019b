#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/rules/bad_file.h"

namespace tollgate {
namespace {

std::string Repeat(const std::string& text, int times) {
  return absl::StrJoin(std::vector<std::string>(times, text), "");
}

class BadRuleFile : public testing::TestWithParam<BadFile> {};

TEST_P(BadRuleFile, IsRefusedWithTheseWords) { ExpectRefused(GetParam()); }

std::vector<BadFile> BadFiles() {
  return {
      {"UnknownTopLevelField",
       "domain: shop\n"
       "rules: []\n"
       "limits: []\n",
       "r.yaml:3:1: limits: got an unknown field, want one of domain, rules"},
      {"MisspeltTopLevelFields",
       "domian: shop\n"
       "rule: []\n",
       "r.yaml:1:1: domian: got an unknown field, want one of domain, rules; "
       "did you mean \"domain\"?\n"
       "r.yaml:1:1: domain: got nothing, want the domain of the rules, such as "
       "shop\n"
       "r.yaml:1:1: rules: got nothing, want a list of rules\n"
       "r.yaml:2:1: rule: got an unknown field, want one of domain, rules; did "
       "you mean \"rules\"?"},
      {"UnknownRuleField",
       "{domain: shop, rules: [{name: a, limit: 1/second, limits: 2}]}",
       "r.yaml:1:51: rules[0].limits: got an unknown field, want one of name, "
       "match, key, limit, burst, tier, algorithm, max_delay, slot_ttl, cost, "
       "mode, penalty, reserve, overflow_share, on_outage, unlimited, skips; "
       "did you mean "
       "\"limit\"?"},
      {"FarUnknownRuleField",
       "{domain: shop, rules: [{name: a, limit: 1/second, quota: 2}]}",
       "r.yaml:1:51: rules[0].quota: got an unknown field, want one of name, "
       "match, key, limit, burst, tier, algorithm, max_delay, slot_ttl, cost, "
       "mode, penalty, reserve, overflow_share, on_outage, unlimited, skips"},
      {"MergeKey",
       "{domain: shop, rules: [{name: a, limit: 1/second, <<: {cost: 2}}]}",
       "r.yaml:1:51: rules[0].<<: got an unknown field, want one of name, "
       "match, key, limit, burst, tier, algorithm, max_delay, slot_ttl, cost, "
       "mode, penalty, reserve, overflow_share, on_outage, unlimited, skips"},
      {"MissingDomain",
       "rules:\n"
       "  - name: a\n"
       "    limit: 1/second\n",
       "r.yaml:1:1: domain: got nothing, want the domain of the rules, such as "
       "shop"},
      {"MissingRules", "domain: shop\n",
       "r.yaml:1:1: rules: got nothing, want a list of rules"},
      {"MissingName",
       "domain: shop\n"
       "rules:\n"
       "  - limit: 1/second\n",
       "r.yaml:3:5: rules[0].name: got nothing, want a name that is unique in "
       "the domain, such as per-user"},
      {"MissingLimit",
       "domain: shop\n"
       "rules:\n"
       "  - name: a\n",
       "r.yaml:3:5: rules[0].limit: got nothing, want tokens/period, such as "
       "10/second, or a list of those"},
      {"EverythingNull",
       "domain:\n"
       "rules:\n"
       "  - name:\n"
       "    key: null\n"
       "    match: ~\n"
       "    limit:\n"
       "    burst:\n"
       "    algorithm:\n"
       "    cost:\n"
       "    mode:\n"
       "  -\n",
       "r.yaml:1:1: domain: got nothing, want the domain of the rules, such as "
       "shop\n"
       "r.yaml:3:3: rules[1]: got nothing, want a rule, a map with name, key, "
       "limit and so on\n"
       "r.yaml:3:5: rules[0].name: got nothing, want a name that is unique in "
       "the domain, such as per-user\n"
       "r.yaml:4:5: rules[0].key: got nothing, want a list of entry keys, such "
       "as [user]\n"
       "r.yaml:5:5: rules[0].match: got nothing, want a map of entry keys to "
       "values, such as {endpoint: /login}\n"
       "r.yaml:6:5: rules[0].limit: got nothing, want tokens/period, such as "
       "10/second, or a list of those\n"
       "r.yaml:7:5: rules[0].burst: got nothing, want a whole number, 1 to "
       "4294967295\n"
       "r.yaml:8:5: rules[0].algorithm: got nothing, want one of token_bucket, "
       "fixed_window, sliding_window, sliding_log, leaky_bucket, concurrency\n"
       "r.yaml:9:5: rules[0].cost: got nothing, want a whole number, 1 to "
       "4294967295\n"
       "r.yaml:10:5: rules[0].mode: got nothing, want enforce, shadow, off or "
       "{enforce: 25%}"},
      {"NullRules",
       "domain: shop\n"
       "rules:\n",
       "r.yaml:2:1: rules: got nothing, want a list of rules"},
      {"AllErrorsOfAFileInItsOrder",
       "domain: shop\n"
       "rules:\n"
       "  - name: a\n"
       "    limit: 0/second\n"
       "    cost: 0\n"
       "  - name: a\n"
       "    limt: 1/second\n",
       "r.yaml:4:12: rules[0].limit: got \"0/second\", want at least 1 token\n"
       "r.yaml:5:11: rules[0].cost: got \"0\", want a whole number, 1 to "
       "4294967295\n"
       "r.yaml:6:5: rules[1].limit: got nothing, want tokens/period, such as "
       "10/second, or a list of those\n"
       "r.yaml:6:11: rules[1].name: got \"a\", a name taken at r.yaml:3:11, "
       "want one not yet used in domain \"shop\"\n"
       "r.yaml:7:5: rules[1].limt: got an unknown field, want one of name, "
       "match, key, limit, burst, tier, algorithm, max_delay, slot_ttl, cost, "
       "mode, penalty, reserve, overflow_share, on_outage, unlimited, skips; "
       "did you mean "
       "\"limit\"?"},
      {"EmptyDomain", "{domain: '', rules: []}",
       "r.yaml:1:10: domain: got 0 bytes, want 1 to 256"},
      {"LongDomain",
       std::string("{domain: ") + std::string(257, 'd') + ", rules: []}",
       "r.yaml:1:10: domain: got 257 bytes, want 1 to 256"},
      {"EmptyName", "{domain: shop, rules: [{name: '', limit: 1/second}]}",
       "r.yaml:1:31: rules[0].name: got 0 bytes, want 1 to 128"},
      {"LongName",
       std::string("{domain: shop, rules: [{name: ") + std::string(129, 'n') +
           ", limit: 1/second}]}",
       "r.yaml:1:31: rules[0].name: got 129 bytes, want 1 to 128"},
      {"ControlCharacterInName",
       "{domain: shop, rules: [{name: \"a\\nb\", limit: 1/second}]}",
       "r.yaml:1:31: rules[0].name: got a control character, want none"},
      {"DeleteCharacterInName",
       "{domain: shop, rules: [{name: \"a\\x7f\", limit: 1/second}]}",
       "r.yaml:1:31: rules[0].name: got a control character, want none"},
      {"NameIsAList", "{domain: shop, rules: [{name: [a], limit: 1/second}]}",
       "r.yaml:1:31: rules[0].name: got a list, want a name that is unique in "
       "the domain, such as per-user"},
      {"DuplicateName",
       "domain: shop\n"
       "rules:\n"
       "  - {name: a, limit: 1/second}\n"
       "  - {name: b, limit: 1/second}\n"
       "  - {name: a, limit: 2/second}\n",
       "r.yaml:5:12: rules[2].name: got \"a\", a name taken at r.yaml:3:12, "
       "want one not yet used in domain \"shop\""},
      {"ZeroTokens", "{domain: shop, rules: [{name: a, limit: 0/second}]}",
       "r.yaml:1:41: rules[0].limit: got \"0/second\", want at least 1 token"},
      {"NegativeTokens", "{domain: shop, rules: [{name: a, limit: -1/second}]}",
       "r.yaml:1:41: rules[0].limit: got \"-1/second\", want a whole number of "
       "tokens, 1 to 4294967295, not \"-1\""},
      {"FractionalTokens",
       "{domain: shop, rules: [{name: a, limit: 1.5/second}]}",
       "r.yaml:1:41: rules[0].limit: got \"1.5/second\", want a whole number "
       "of tokens, 1 to 4294967295, not \"1.5\""},
      {"ExponentTokens",
       "{domain: shop, rules: [{name: a, limit: 1e3/second}]}",
       "r.yaml:1:41: rules[0].limit: got \"1e3/second\", want a whole number "
       "of tokens, 1 to 4294967295, not \"1e3\""},
      {"TooManyTokens",
       "{domain: shop, rules: [{name: a, limit: 4294967296/second}]}",
       "r.yaml:1:41: rules[0].limit: got \"4294967296/second\", want at most "
       "4294967295 tokens"},
      {"AbsurdTokens",
       "{domain: shop, rules: [{name: a, limit: "
       "99999999999999999999999/second}]}",
       "r.yaml:1:41: rules[0].limit: got \"99999999999999999999999/second\", "
       "want at most 4294967295 tokens"},
      {"ZeroPeriod", "{domain: shop, rules: [{name: a, limit: 1/0s}]}",
       "r.yaml:1:41: rules[0].limit: got \"1/0s\", want a period of at least "
       "1ns"},
      {"PeriodOverTenYears",
       "{domain: shop, rules: [{name: a, limit: 1/3651d}]}",
       "r.yaml:1:41: rules[0].limit: got \"1/3651d\", want a period of at most "
       "10 years (3650d)"},
      {"PeriodOneNanosecondOverTenYears",
       "{domain: shop, rules: [{name: a, limit: 1/3650d1ns}]}",
       "r.yaml:1:41: rules[0].limit: got \"1/3650d1ns\", want a period of at "
       "most 10 years (3650d)"},
      {"AbsurdPeriod",
       "{domain: shop, rules: [{name: a, limit: 1/99999999999999999999year}]}",
       "r.yaml:1:41: rules[0].limit: got \"1/99999999999999999999year\", want "
       "a period of at most 10 years (3650d)"},
      {"UnknownUnit", "{domain: shop, rules: [{name: a, limit: 1/fortnight}]}",
       "r.yaml:1:41: rules[0].limit: got \"1/fortnight\", want a period in "
       "second, minute, hour, day, week, month, year, or a count of those or "
       "of ns, us, ms, s, m, h, d, w, not \"fortnight\""},
      {"PluralUnit", "{domain: shop, rules: [{name: a, limit: 10/seconds}]}",
       "r.yaml:1:41: rules[0].limit: got \"10/seconds\", want a period in "
       "second, minute, hour, day, week, month, year, or a count of those or "
       "of ns, us, ms, s, m, h, d, w, not \"seconds\"; did you mean "
       "\"second\"?"},
      {"CapitalUnit", "{domain: shop, rules: [{name: a, limit: 10/Minute}]}",
       "r.yaml:1:41: rules[0].limit: got \"10/Minute\", want a period in "
       "second, minute, hour, day, week, month, year, or a count of those or "
       "of ns, us, ms, s, m, h, d, w, not \"Minute\"; did you mean "
       "\"minute\"?"},
      {"ShortUnitWithoutCount",
       "{domain: shop, rules: [{name: a, limit: 1/s}]}",
       "r.yaml:1:41: rules[0].limit: got \"1/s\", want a period in second, "
       "minute, hour, day, week, month, year, or a count of those or of ns, "
       "us, ms, s, m, h, d, w, not \"s\""},
      {"CountWithoutUnit", "{domain: shop, rules: [{name: a, limit: 1/5}]}",
       "r.yaml:1:41: rules[0].limit: got \"1/5\", want a unit after \"5\": "
       "second, minute, hour, day, week, month, year, or a count of those or "
       "of ns, us, ms, s, m, h, d, w"},
      {"FractionalPeriod", "{domain: shop, rules: [{name: a, limit: 1/1.5s}]}",
       "r.yaml:1:41: rules[0].limit: got \"1/1.5s\", want a period in whole "
       "numbers: 1500ms, not 1.5s"},
      {"TwoSlashes", "{domain: shop, rules: [{name: a, limit: 1/2/second}]}",
       "r.yaml:1:41: rules[0].limit: got \"1/2/second\", want a period in "
       "second, minute, hour, day, week, month, year, or a count of those or "
       "of ns, us, ms, s, m, h, d, w, not \"/second\"; did you mean "
       "\"second\"?"},
      {"SpaceInPeriod", "{domain: shop, rules: [{name: a, limit: 1/5 m}]}",
       "r.yaml:1:41: rules[0].limit: got \"1/5 m\", want a period in second, "
       "minute, hour, day, week, month, year, or a count of those or of ns, "
       "us, ms, s, m, h, d, w, not \" m\""},
      {"NoTokens", "{domain: shop, rules: [{name: a, limit: /second}]}",
       "r.yaml:1:41: rules[0].limit: got \"/second\", want tokens/period, such "
       "as 10/second, 100/5m or 1/600ms"},
      {"NoPeriod", "{domain: shop, rules: [{name: a, limit: 1/}]}",
       "r.yaml:1:41: rules[0].limit: got \"1/\", want tokens/period, such as "
       "10/second, 100/5m or 1/600ms"},
      {"NumberAsLimit", "{domain: shop, rules: [{name: a, limit: 10}]}",
       "r.yaml:1:41: rules[0].limit: got \"10\", want tokens/period, such as "
       "10/second"},
      {"WordAsLimit", "{domain: shop, rules: [{name: a, limit: unlimited}]}",
       "r.yaml:1:41: rules[0].limit: got \"unlimited\", want tokens/period, "
       "such as 10/second, 100/5m or 1/600ms"},
      {"LimitIsAMap", "{domain: shop, rules: [{name: a, limit: {tokens: 1}}]}",
       "r.yaml:1:41: rules[0].limit: got a map, want tokens/period, such as "
       "10/second, or a list of those"},
      {"EmptyLimitList", "{domain: shop, rules: [{name: a, limit: []}]}",
       "r.yaml:1:41: rules[0].limit: got an empty list, want tokens/period, "
       "such as 10/second, or a list of those"},
      {"BadLimitsInAList",
       "{domain: shop, rules: [{name: a, limit: [1/second, 0/day, [x], 7]}]}",
       "r.yaml:1:52: rules[0].limit[1]: got \"0/day\", want at least 1 token\n"
       "r.yaml:1:59: rules[0].limit[2]: got a list, want tokens/period, such "
       "as 10/second\n"
       "r.yaml:1:64: rules[0].limit[3]: got \"7\", want tokens/period, such as "
       "7/second"},
      {"SeventeenLimits",
       std::string("{domain: shop, rules: [{name: a, limit: [1/second") +
           Repeat(", 1/second", 16) + "]}]}",
       "r.yaml:1:41: rules[0].limit: got 17 limits, want 1 to 16"},
      {"BurstWithTwoLimits",
       "{domain: shop, rules: [{name: a, limit: [1/second, 9/day], burst: 3}]}",
       "r.yaml:1:67: rules[0].burst: got \"3\" with 2 limits, want burst with "
       "one limit: to set a burst, give that limit a rule of its own"},
      {"ZeroBurst",
       "{domain: shop, rules: [{name: a, limit: 1/second, burst: 0}]}",
       "r.yaml:1:58: rules[0].burst: got \"0\", want a whole number, 1 to "
       "4294967295"},
      {"BurstTooBig",
       "{domain: shop, rules: [{name: a, limit: 1/second, burst: 4294967296}]}",
       "r.yaml:1:58: rules[0].burst: got \"4294967296\", want a whole number, "
       "1 to 4294967295"},
      {"FractionalBurst",
       "{domain: shop, rules: [{name: a, limit: 1/second, burst: 2.5}]}",
       "r.yaml:1:58: rules[0].burst: got \"2.5\", want a whole number, 1 to "
       "4294967295"},
      {"BurstThatTakesAgesToRefill",
       "{domain: shop, rules: [{name: a, limit: 1/year, burst: 4294967295}]}",
       "r.yaml:1:56: rules[0].burst: got 4294967295, which takes over 36500 "
       "days to refill at 1 tokens per 8760h, want less"},
      {"BurstIsAList",
       "{domain: shop, rules: [{name: a, limit: 1/second, burst: [1]}]}",
       "r.yaml:1:58: rules[0].burst: got a list, want a whole number, 1 to "
       "4294967295"},
      {"ZeroCost",
       "{domain: shop, rules: [{name: a, limit: 1/second, cost: 0}]}",
       "r.yaml:1:57: rules[0].cost: got \"0\", want a whole number, 1 to "
       "4294967295"},
      {"CostTooBig",
       "{domain: shop, rules: [{name: a, limit: 1/second, cost: 4294967296}]}",
       "r.yaml:1:57: rules[0].cost: got \"4294967296\", want a whole number, 1 "
       "to 4294967295"},
      {"NegativeCost",
       "{domain: shop, rules: [{name: a, limit: 1/second, cost: -1}]}",
       "r.yaml:1:57: rules[0].cost: got \"-1\", want a whole number, 1 to "
       "4294967295"},
      {"EmptyCost",
       "{domain: shop, rules: [{name: a, limit: 1/second, cost: ''}]}",
       "r.yaml:1:57: rules[0].cost: got \"\", want a whole number, 1 to "
       "4294967295"},
      {"UnknownAlgorithm",
       "{domain: shop, rules: [{name: a, limit: 1/second, algorithm: gcra}]}",
       "r.yaml:1:62: rules[0].algorithm: got \"gcra\", want one of "
       "token_bucket, fixed_window, sliding_window, sliding_log, leaky_bucket, "
       "concurrency"},
      {"MisspeltAlgorithm",
       "{domain: shop, rules: [{name: a, limit: 1/second, algorithm: "
       "token-bucket}]}",
       "r.yaml:1:62: rules[0].algorithm: got \"token-bucket\", want one of "
       "token_bucket, fixed_window, sliding_window, sliding_log, leaky_bucket, "
       "concurrency; did you mean \"token_bucket\"?"},
      {"UnknownMode",
       "{domain: shop, rules: [{name: a, limit: 1/second, mode: on}]}",
       "r.yaml:1:57: rules[0].mode: got \"on\", want enforce, shadow, off or "
       "{enforce: 25%}"},
      {"KeyIsText",
       "{domain: shop, rules: [{name: a, limit: 1/second, key: user}]}",
       "r.yaml:1:56: rules[0].key: got \"user\", want a list of entry keys, "
       "such as [user]"},
      {"EmptyKeyPart",
       "{domain: shop, rules: [{name: a, limit: 1/second, key: ['']}]}",
       "r.yaml:1:57: rules[0].key[0]: got \"\", want an entry key, "
       "alternatives such as api_key | ip, or {entry: ip, prefix: {v4: 32, v6: "
       "64}}"},
      {"EmptyAlternative",
       "{domain: shop, rules: [{name: a, limit: 1/second, key: [api_key | | "
       "ip]}]}",
       "r.yaml:1:57: rules[0].key[0]: got \"api_key | | ip\", want an entry "
       "key, alternatives such as api_key | ip, or {entry: ip, prefix: {v4: "
       "32, v6: 64}}"},
      {"NullKeyPart",
       "{domain: shop, rules: [{name: a, limit: 1/second, key: [user, ~]}]}",
       "r.yaml:1:56: rules[0].key[1]: got nothing, want an entry key, "
       "alternatives such as api_key | ip, or {entry: ip, prefix: {v4: 32, v6: "
       "64}}"},
      {"LongKeyPart",
       std::string("{domain: shop, rules: [{name: a, limit: 1/second, key: [") +
           std::string(257, 'k') + "]}]}",
       "r.yaml:1:57: rules[0].key[0]: got 257 bytes, want 1 to 256"},
      {"EntryTwiceInAPart",
       "{domain: shop, rules: [{name: a, limit: 1/second, key: [ip | ip]}]}",
       "r.yaml:1:57: rules[0].key[0]: got \"ip\" twice, want each entry once"},
      {"EntryTwiceInTheKey",
       "{domain: shop, rules: [{name: a, limit: 1/second, key: [user, ip | "
       "user]}]}",
       "r.yaml:1:63: rules[0].key[1]: got \"user\" twice, want each entry "
       "once"},
      {"MatchIsAList",
       "{domain: shop, rules: [{name: a, limit: 1/second, match: [endpoint]}]}",
       "r.yaml:1:58: rules[0].match: got a list, want a map of entry keys to "
       "values, such as {endpoint: /login}"},
      {"MatchValueIsNull",
       "{domain: shop, rules: [{name: a, limit: 1/second, match: {user: }}]}",
       "r.yaml:1:59: rules[0].match.user: got nothing, want the text to match, "
       "\"\" for an empty value, or a list of those"},
      {"MatchKeyTwice",
       "{domain: shop, rules: [{name: a, limit: 1/second, match: {user: ana, "
       "ip: x, user: bob}}]}",
       "r.yaml:1:77: rules[0].match.user: got it twice, first at 1:59, want it "
       "once"},
      {"MatchKeyIsEmpty",
       "{domain: shop, rules: [{name: a, limit: 1/second, match: {'': ana}}]}",
       "r.yaml:1:63: rules[0].match.: got 0 bytes, want 1 to 256"},
      {"MatchKeyHasAColon",
       "{domain: shop, rules: [{name: a, limit: 1/second, match: {'a: b': "
       "[]}}]}",
       "r.yaml:1:67: rules[0].match.a: b: got an empty list, want one value or "
       "more"},
      {"MatchKeyIsAList",
       "{domain: shop, rules: [{name: a, limit: 1/second, match: {? [user] : "
       "ana}}]}",
       "r.yaml:1:61: rules[0].match: got a list as the name of a field, want "
       "text"},
      {"LongMatchValue",
       std::string(
           "{domain: shop, rules: [{name: a, limit: 1/second, match: {user: ") +
           std::string(4097, 'v') + "}}]}",
       "r.yaml:1:65: rules[0].match.user: got 4097 bytes, want 0 to 4096"},
      {"FieldTwice",
       "domain: shop\n"
       "rules:\n"
       "  - name: a\n"
       "    limit: 1/second\n"
       "    name: b\n",
       "r.yaml:5:5: rules[0].name: got it twice, first at 3:5, want it once"},
      {"DomainTwice",
       "domain: shop\n"
       "domain: mall\n"
       "rules: []\n",
       "r.yaml:2:1: domain: got it twice, first at 1:1, want it once"},
      {"RulesIsAMap", "{domain: shop, rules: {name: a}}",
       "r.yaml:1:23: rules: got a map, want a list of rules"},
      {"RuleIsText", "{domain: shop, rules: [a]}",
       "r.yaml:1:24: rules[0]: got \"a\", want a rule, a map with name, key, "
       "limit and so on"},
      {"RootIsAList", "- domain: shop\n",
       "r.yaml:1:1: got a list, want a map with domain and rules"},
      {"RootIsText", "shop\n",
       "r.yaml:1:1: got \"shop\", want a map with domain and rules"},
      {"Nothing", "",
       "r.yaml: got an empty file, want domain and rules: config file "
       "cannot have empty domain"},
      {"OnlyAComment", "# domain: shop\n",
       "r.yaml: got an empty file, want domain and rules: config file "
       "cannot have empty domain"},
      {"OnlyNull",
       "---\n"
       "~\n",
       "r.yaml: got an empty file, want domain and rules: config file "
       "cannot have empty domain"},
      {"UnclosedList", "hello: [",
       "r.yaml:1:1: got broken YAML (end of sequence flow not found), want a "
       "YAML document"},
      {"UnclosedQuote",
       "domain: shop\n"
       "rules: []\n"
       "last: 'quote\n",
       "r.yaml:3:7: got a quote that is never closed, want its end"},
      {"TabAsIndent",
       "domain: shop\n"
       "rules:\n"
       "\t- name: a\n",
       "r.yaml:3:2: got broken YAML (illegal block entry), want a YAML "
       "document"},
      {"WrongIndent",
       "domain: shop\n"
       "rules:\n"
       "  - name: a\n"
       "   limit: 1/second\n",
       "r.yaml:4:4: got broken YAML (end of sequence not found), want a YAML "
       "document"},
      {"TwoDocuments",
       "domain: shop\n"
       "rules: []\n"
       "---\n"
       "domain: mall\n"
       "rules: []\n",
       "r.yaml:3:1: got a second document, want one document in a file"},
      {"UnknownAlias", "{domain: shop, rules: [*base]}",
       "r.yaml:1:24: got broken YAML (the referenced anchor is not defined), "
       "want a YAML document"},
      {"AliasInsideItsAnchor",
       "domain: shop\n"
       "rules: &all [*all]\n",
       "r.yaml:2:14: got an alias inside its own anchor, want a value"},
      {"Tag",
       "domain: !env SHOP\n"
       "rules: []\n",
       "r.yaml:1:9: got the tag \"!env\", want no tag"},
      {"NotUtf8",
       "domain: shop\n"
       "rules:\n"
       "  - name: caf\xE9\n",
       "r.yaml:3:14: got byte 0xE9 that is not of UTF-8, want UTF-8 text"},
      {"OverlongUtf8", "domain: \xC0\xAF\n",
       "r.yaml:1:9: got byte 0xC0 that is not of UTF-8, want UTF-8 text"},
      {"EndOfTransmission",
       "domain: shop\n"
       "\x04rules: []\n",
       "r.yaml:2:1: got control character 0x04, want text"},
  };
}

INSTANTIATE_TEST_SUITE_P(All, BadRuleFile, testing::ValuesIn(BadFiles()),
                         NameOfBadFile);

}  // namespace
}  // namespace tollgate
