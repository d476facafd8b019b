// Envoy-format rule files: what is read.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limiter/fixed_window.h"
#include "server/limiter/rule_set.h"
#include "server/rules/rule_file.h"
#include "tests/rules/envoy_text.h"

namespace tollgate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string ErrorsOf(const std::string& yaml) {
  return Errors(ParseRules(yaml, "e.yaml"));
}

// The rule after the domain's own.
Rule Only(const std::string& yaml) {
  const LoadedRules loaded = ParseRules(yaml, "e.yaml");
  EXPECT_EQ(Errors(loaded), "");
  EXPECT_THAT(loaded.rules, SizeIs(2));
  return loaded.rules.size() == 2 ? loaded.rules[1] : Rule();
}

TEST(EnvoyFile, ReadsEveryFieldOfADescriptor) {
  const Rule rule = Only(R"(
domain: d
descriptors:
- key: tenant
  descriptors:
  - key: path
    value: /api/*
    rate_limit:
      unit: Minute
      requests_per_unit: 20
      unit_multiplier: 5
      name: api
      replaces: [{name: general}, {name: other}]
    shadow_mode: true
    quota_mode: yes
    share_threshold: on
    detailed_metric: true
    value_to_metric: true
    metadata: {plan: gold, count: 3, deep: {ok: yes, none: ~, list: [1, "1"]}}
)");
  EXPECT_EQ(rule.domain, "d");
  EXPECT_EQ(rule.name, "tenant.path_/api/*");
  EXPECT_EQ(rule.mode, Mode::kShadow);
  EXPECT_EQ(rule.algorithm->name(), "token_bucket");
  ASSERT_THAT(rule.limits, SizeIs(1));
  EXPECT_EQ(rule.limits[0].ToString(), "20/5m");
  const NodeRule& node = *rule.node;
  ASSERT_THAT(node.path, SizeIs(2));
  EXPECT_EQ(node.path[0].ToString(), "tenant");
  EXPECT_FALSE(node.path[0].share);
  EXPECT_EQ(node.path[1].value, "/api/*");
  EXPECT_TRUE(node.path[1].share);
  EXPECT_TRUE(node.quota_mode);
  ASSERT_THAT(node.limits, SizeIs(1));
  EXPECT_EQ(node.limits[0].unit, LimitUnit::kMinute);
  EXPECT_EQ(node.limits[0].unit_multiplier, 5u);
  EXPECT_EQ(node.limits[0].name, "api");
  EXPECT_THAT(node.limits[0].replaces, ElementsAre("general", "other"));
  EXPECT_EQ(node.metadata, R"({"plan":"gold","count":3,"deep":)"
                           R"({"ok":true,"none":null,"list":[1,"1"]}})");
}

TEST(EnvoyFile, EachDomainHasARuleForLimitsThatRequestsBring) {
  for (const char* yaml :
       {"domain: d\ndescriptors: []\n", "domain: d\ndescriptors:\n",
        "domain: d\ndescriptors: ~\n"}) {
    const LoadedRules loaded = ParseRules(yaml, "e.yaml");
    EXPECT_EQ(Errors(loaded), "");
    ASSERT_THAT(loaded.rules, SizeIs(1));
    EXPECT_EQ(loaded.rules[0].name, "_override");
    EXPECT_THAT(loaded.rules[0].node->path, IsEmpty());
  }
}

TEST(EnvoyFile, ARateLimitMayBeAList) {
  const Rule rule =
      Only(File("{key: k, rate_limit: [{unit: second, requests_per_unit: 5}, "
                "{unit: day, requests_per_unit: 0}, {unlimited: true}]}"));
  EXPECT_THAT(rule.limits, SizeIs(1));
  ASSERT_THAT(rule.node->limits, SizeIs(3));
  EXPECT_EQ(rule.node->limits[1].requests_per_unit, 0u);
  EXPECT_TRUE(rule.node->limits[2].unlimited);
}

TEST(EnvoyFile, TheAlgorithmIsAnOption) {
  LoadOptions options;
  options.envoy_algorithm = &FixedWindow();
  const LoadedRules loaded = ParseRules(
      File("{key: k, rate_limit: {unit: second, requests_per_unit: 5}}"),
      "e.yaml", options);
  EXPECT_EQ(loaded.rules.at(1).algorithm->name(), "fixed_window");
  EXPECT_NE(loaded.hash, ParseRules(File("{key: k, rate_limit: {unit: second, "
                                         "requests_per_unit: 5}}"),
                                    "e.yaml")
                             .hash);
}

struct Scalar {
  const char* written;
  const char* text;
};

// 2.2: scalars into strings keep their source text.
TEST(EnvoyFile, ScalarsKeepTheirSourceText) {
  const std::vector<Scalar> scalars = {{"123", "123"},
                                       {"true", "true"},
                                       {"yes", "yes"},
                                       {"off", "off"},
                                       {"0x10", "0x10"},
                                       {"010", "010"},
                                       {"1_000", "1_000"},
                                       {"2020-01-01", "2020-01-01"},
                                       {"~", ""},
                                       {"null", ""},
                                       {"\"\"", ""},
                                       {"foo*", "foo*"},
                                       {"\"*foo\"", "*foo"},
                                       {"\"1.5\"", "1.5"},
                                       {"!!str 1.5", "1.5"},
                                       {"1.5.2", "1.5.2"},
                                       {"10.0.0.1", "10.0.0.1"}};
  for (const Scalar& scalar : scalars) {
    const Rule rule =
        Only(File(std::string("{key: k, value: ") + scalar.written + "}"));
    EXPECT_EQ(rule.node->path.at(0).value, scalar.text) << scalar.written;
  }
}

// 2.1: unit is case-insensitive, one of seven.
TEST(EnvoyFile, UnitsAreNamesInAnyCase) {
  for (const auto& [name, period] :
       std::vector<std::pair<const char*, int>>{{"second", 1},
                                                {"MINUTE", 60},
                                                {"Hour", 3600},
                                                {"day", 86400},
                                                {"week", 604800},
                                                {"month", 2592000},
                                                {"year", 31536000}}) {
    const Rule rule =
        Only(File(std::string("{key: k, rate_limit: {requests_per_unit: 010, "
                              "unit: ") +
                  name + "}}"));
    EXPECT_EQ(rule.limits.at(0).period_ns(), period * int64_t{1'000'000'000});
    EXPECT_EQ(rule.limits.at(0).tokens(), 8u) << "YAML 1.1's octal";
  }
}

TEST(EnvoyFile, AnchorsAliasesAndMergeKeysWork) {
  const LoadedRules loaded = ParseRules(R"(
domain: d
descriptors:
- &base {key: a, rate_limit: &limit {unit: hour, requests_per_unit: 3}}
- {key: b, rate_limit: *limit}
- {<<: *base, key: c}
- {key: e, <<: [{key: f, value: g}, *base]}
)",
                                        "e.yaml");
  EXPECT_EQ(Errors(loaded), "");
  std::vector<std::string> names;
  for (const Rule& rule : loaded.rules) {
    names.push_back(rule.name);
    if (!rule.node->path.empty()) {
      EXPECT_EQ(rule.limits.at(0).ToString(), "3/1h");
    }
  }
  EXPECT_THAT(names, ElementsAre("_override", "a", "b", "c", "e_g"));
}

TEST(EnvoyFile, OfEqualMappingKeysTheLastCounts) {
  EXPECT_EQ(Only(File("{key: a, key: b}")).name, "b");
}

TEST(EnvoyFile, TheFirstDocumentIsReadAlone) {
  EXPECT_EQ(Only("domain: d\ndescriptors: [{key: a}]\n---\nfoo: [\n").name,
            "a");
  EXPECT_THAT(ErrorsOf("domain: d\nrules: []\n---\nfoo: 1\n"),
              HasSubstr("second document"));
}

TEST(EnvoyFile, ValidWordsAtTheWrongPlaceAreIgnored) {
  const Rule rule = Only(File(
      "{key: k, unit: hour, name: x, requests_per_unit: 1, "
      "rate_limit: {unit: hour, requests_per_unit: 1, shadow_mode: true}}"));
  EXPECT_EQ(rule.mode, Mode::kEnforce);
  EXPECT_EQ(rule.node->limits.at(0).name, "");
}

TEST(EnvoyFile, AReplacedNameThatNobodyHasIsAccepted) {
  EXPECT_EQ(ErrorsOf(File("{key: k, rate_limit: {unit: hour, "
                          "replaces: [{name: nobody}]}}")),
            "");
}

TEST(EnvoyFile, InnerNodesWithoutALimitAreNoRules) {
  const LoadedRules loaded = ParseRules(
      File("{key: a, descriptors: [{key: b, descriptors: [{key: c}]}, "
           "{key: e}]}"),
      "e.yaml");
  std::vector<std::string> names;
  for (const Rule& rule : loaded.rules) names.push_back(rule.name);
  EXPECT_THAT(names, ElementsAre("_override", "a.b.c", "a.e"));
}

TEST(EnvoyFile, NamesStayUniqueBoundedAndOnOneLine) {
  const std::string longest(300, 'x');
  const LoadedRules loaded = ParseRules(
      "domain: d\ndescriptors:\n- {key: a.b}\n- {key: a, descriptors: "
      "[{key: b}]}\n- {key: k, value: " +
          longest + "}\n- {key: k, value: \"a\\nb\"}\n- {key: _override}\n",
      "e.yaml");
  EXPECT_EQ(Errors(loaded), "");
  ASSERT_THAT(loaded.rules, SizeIs(6));
  EXPECT_EQ(loaded.rules[1].name, "a.b");
  EXPECT_THAT(loaded.rules[2].name, HasSubstr("a.b~"));
  EXPECT_THAT(loaded.rules[3].name, HasSubstr("k_xxx"));
  EXPECT_THAT(loaded.rules[4].name, HasSubstr("k_a?b~"));
  EXPECT_THAT(loaded.rules[5].name, HasSubstr("_override~"));
  EXPECT_TRUE(RuleSet::Create(loaded.rules).ok());
}

TEST(EnvoyFile, OrderIsPartOfTheHashSinceTheFirstWildcardCounts) {
  const auto hash = [](const char* yaml) {
    return ParseRules(yaml, "e.yaml").hash;
  };
  EXPECT_EQ(hash("domain: d\ndescriptors: [{key: a, value: 'x*'}]"),
            hash("descriptors: [{value: x*, key: 'a'}]\ndomain: d"));
  EXPECT_NE(hash("domain: d\ndescriptors: [{key: a, value: 'x*'}, {key: a, "
                 "value: '*x'}]"),
            hash("domain: d\ndescriptors: [{key: a, value: '*x'}, {key: a, "
                 "value: 'x*'}]"));
}

TEST(EnvoyFile, AcceptsAnInvalidUnitBesideUnlimited) {
  EXPECT_EQ(ErrorsOf(File("{key: k, rate_limit: {unlimited: true, unit: "
                          "foo, requests_per_unit: 4}}")),
            "");
}

TEST(EnvoyFile, EveryMistakeIsReported) {
  EXPECT_THAT(ParseRules(File("{key: k, rate_limit: {unit: foo}, descriptors: "
                              "[{value: x}, {key: y, shadow_mode: 3}]}"),
                         "e.yaml")
                  .errors,
              SizeIs(3));
}

TEST(EnvoyFile, AliasesThatMultiplyAreBounded) {
  // Each level names the one below it ten times.
  std::string deep =
      "domain: d\ndescriptors:\n- {key: k0, metadata: {a: &a0 "
      "[x, x, x, x, x, x, x, x, x, x]}}\n";
  for (int i = 1; i < 9; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    deep += "- {key: k" + std::to_string(i) + ", metadata: {a: &a" +
            std::to_string(i) + " [" + alias;
    for (int j = 0; j < 9; ++j) deep += ", " + alias;
    deep += "]}}\n";
  }
  EXPECT_THAT(ErrorsOf(deep), HasSubstr("YAML nodes with aliases"));
  // A long text that many name.
  std::string wide =
      "domain: d\ndescriptors:\n- &x {key: k, descriptors: "
      "&l [{key: a, metadata: {t: \"" +
      std::string(60'000, 't') + "\"}}]}\n";
  for (int i = 0; i < 2'000; ++i) {
    wide += "- {key: k" + std::to_string(i) + ", descriptors: *l}\n";
  }
  EXPECT_THAT(ErrorsOf(wide), HasSubstr("MiB of keys, values and metadata"));
  EXPECT_THAT(ErrorsOf(File("{key: k, metadata: {t: \"" +
                            std::string(70'000, 't') + "\"}}")),
              HasSubstr("error parsing metadata: over 65536 bytes"));
}

TEST(EnvoyFile, DescriptorsThatNestTooDeepAreRefused) {
  // Deeper than text can be nested: each alias adds to the depth.
  std::string yaml = "descriptors:\n- &a0 {key: k}\n";
  for (int i = 1; i < 600; ++i) {
    yaml += "- &a" + std::to_string(i) + " {key: k" + std::to_string(i) +
            ", descriptors: [*a" + std::to_string(i - 1) + "]}\n";
  }
  EXPECT_THAT(ErrorsOf(yaml + "domain: d\n"),
              HasSubstr("error checking config: nested over 400 deep"));
}

}  // namespace
}  // namespace tollgate
