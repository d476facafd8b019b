// Every way in which an Envoy-format file is refused. The texts are those that
// operators of envoyproxy/ratelimit know; the rows are numbered as that product
// checks them.
#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/rules/envoy_text.h"

namespace tollgate {
namespace {

struct Bad {
  const char* name;
  std::string yaml;
  const char* error;
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.name; }

class BadEnvoyFile : public ::testing::TestWithParam<Bad> {};

TEST_P(BadEnvoyFile, IsRefusedInWordsThatCanBeSearchedFor) {
  const LoadedRules loaded = ParseRules(GetParam().yaml, "e.yaml");
  EXPECT_EQ(Errors(loaded), GetParam().error);
  EXPECT_EQ(loaded.hash, "");
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadEnvoyFile,
    ::testing::ValuesIn(std::vector<Bad>{
        {"Row1NotYaml", "descriptors: [\ndomain: \"d\n",
         "e.yaml:3:1: error loading config file: yaml: line 3: got broken YAML "
         "(end of sequence flow not found), want a YAML document"},
        {"Row2KeyIsAFraction", File("{key: k, 0.25: x}"),
         "e.yaml:3:12: config error, key is not of type string: 0.25"},
        {"Row2KeyIsATruthValue", File("{key: k, on: x}"),
         "e.yaml:3:12: config error, key is not of type string: on"},
        {"Row2KeyIsYes", File("{y: k}"),
         "e.yaml:3:4: config error, key is not of type string: y"},
        {"Row3UnknownKey", File("{key: k, ratelimit: {unit: day}}"),
         "e.yaml:3:12: config error, unknown key 'ratelimit'; did you mean "
         "\"rate_limit\"?"},
        {"Row4ListOfText", "domain: d\ndescriptors: [a]\n",
         "e.yaml:2:15: config error, yaml file contains list of type other "
         "than map: a"},
        {"Row5Fraction", File("{key: k, value: 1.5}"),
         "e.yaml:3:19: error checking config: got the number 1.5, want a whole "
         "one or quotes around it"},
        {"Row5Exponent",
         File("{key: k, rate_limit: {unit: day, requests_per_unit: 1e3}}"),
         "e.yaml:3:55: error checking config: got the number 1e3, want a whole "
         "one or quotes around it"},
        {"Row5TooLarge", File("{key: k, value: 9223372036854775808}"),
         "e.yaml:3:19: error checking config: got the number "
         "9223372036854775808, want a whole one or quotes around it"},
        {"Row6Negative",
         File("{key: k, rate_limit: {unit: day, requests_per_unit: -1}}"),
         "e.yaml:3:55: descriptors[0].rate_limit: error loading config file: "
         "yaml: unmarshal errors: line 3: cannot unmarshal !!int `-1` into "
         "uint32"},
        {"Row6Above32Bits",
         File("{key: k, rate_limit: {unit: day, requests_per_unit: "
              "4294967296}}"),
         "e.yaml:3:55: descriptors[0].rate_limit: error loading config file: "
         "yaml: unmarshal errors: line 3: cannot unmarshal !!int `4294967296` "
         "into uint32"},
        {"Row6QuotedNumber",
         File("{key: k, rate_limit: {unit: day, requests_per_unit: \"7\"}}"),
         "e.yaml:3:55: descriptors[0].rate_limit: error loading config file: "
         "yaml: unmarshal errors: line 3: cannot unmarshal !!str `7` into "
         "uint32"},
        {"Row6NoTruthValue", File("{key: k, shadow_mode: maybe}"),
         "e.yaml:3:25: descriptors[0]: error loading config file: yaml: "
         "unmarshal errors: line 3: cannot unmarshal !!str `maybe` into bool"},
        {"Row6MapForAList", File("{key: k, descriptors: {key: x}}"),
         "e.yaml:3:25: descriptors[0]: error loading config file: yaml: "
         "unmarshal errors: line 3: cannot unmarshal !!map into "
         "[]config.YamlDescriptor"},
        {"Row6MapForText", File("{key: k, value: {key: x}}"),
         "e.yaml:3:19: descriptors[0]: error loading config file: yaml: "
         "unmarshal errors: line 3: cannot unmarshal !!map into string"},
        {"Row7NoDomain", "descriptors: []\n",
         "e.yaml:1:1: config file cannot have empty domain"},
        {"Row7EmptyDomain", "domain: ''\ndescriptors: []\n",
         "e.yaml:1:9: domain: config file cannot have empty domain"},
        {"Row9NoKey", File("{value: v}"),
         "e.yaml:3:3: descriptors[0]: descriptor has empty key"},
        {"Row9EmptyKey", File("{key: ~}"),
         "e.yaml:3:4: descriptors[0].key: descriptor has empty key"},
        {"Row10Duplicate",
         "domain: d\ndescriptors:\n- key: parent\n  value: v\n  descriptors:\n"
         "  - {key: key, value: value}\n  - {key: key, value: value}\n",
         "e.yaml:7:11: descriptors[0].descriptors[1].key: duplicate descriptor "
         "composite key 'd.parent_v.key_value'"},
        {"Row10SameJoined",
         "domain: d\ndescriptors: [{key: a_b}, {key: a, value: b}]\n",
         "e.yaml:2:33: descriptors[1].key: duplicate descriptor composite key "
         "'d.a_b'"},
        {"Row11UnlimitedWithUnit",
         File("{key: k, rate_limit: {unlimited: true, unit: day}}"),
         "e.yaml:3:48: descriptors[0].rate_limit.unit: should not specify rate "
         "limit unit when unlimited"},
        {"Row12NoUnit", File("{key: k, rate_limit: {}}"),
         "e.yaml:3:24: descriptors[0].rate_limit: invalid rate limit unit ''"},
        {"Row12WrongUnit",
         File("{key: k, rate_limit: {unit: foo, requests_per_unit: 1}}"),
         "e.yaml:3:31: descriptors[0].rate_limit.unit: invalid rate limit unit "
         "'foo'"},
        {"Row12Plural", File("{key: k, rate_limit: {unit: minutes}}"),
         "e.yaml:3:31: descriptors[0].rate_limit.unit: invalid rate limit unit "
         "'minutes'"},
        {"Row12Unknown", File("{key: k, rate_limit: {unit: unknown}}"),
         "e.yaml:3:31: descriptors[0].rate_limit.unit: invalid rate limit unit "
         "'unknown'"},
        {"Row12Number", File("{key: k, rate_limit: {unit: 1}}"),
         "e.yaml:3:31: descriptors[0].rate_limit.unit: invalid rate limit unit "
         "'1'"},
        {"Row13EmptyReplaces",
         File("{key: k, rate_limit: {unit: day, replaces: [{name: ''}]}}"),
         "e.yaml:3:54: descriptors[0].rate_limit.replaces[0].name: should not "
         "have an empty replaces entry"},
        {"Row14ReplacesItself",
         File("{key: k, rate_limit: {unit: day, name: n, replaces: [{name: "
              "n}]}}"),
         "e.yaml:3:63: descriptors[0].rate_limit.replaces[0].name: replaces "
         "should not contain name of same descriptor"},
        {"Row15NoWildcard", File("{key: k, value: v, share_threshold: true}"),
         "e.yaml:3:39: descriptors[0].share_threshold: share_threshold can "
         "only be used with wildcard values (containing '*'), but found key "
         "'k_v'"},
        {"Row16MetadataKey", File("{key: k, metadata: {a: {1: x}}}"),
         "e.yaml:3:22: descriptors[0].metadata: error parsing metadata: key is "
         "not of type string: 1"},
        {"Row16MetadataNumber", File("{key: k, metadata: {a: .nan}}"),
         "e.yaml:3:22: descriptors[0].metadata: error parsing metadata: "
         "invalid number: .nan"},
        {"MetadataIsAList", File("{key: k, metadata: [a]}"),
         "e.yaml:3:22: descriptors[0]: error loading config file: yaml: "
         "unmarshal errors: line 3: cannot unmarshal !!seq into "
         "map[string]interface {}"},
        {"LimitIsAnEmptyList", File("{key: k, rate_limit: []}"),
         "e.yaml:3:24: descriptors[0].rate_limit: got a list of 0 limits, want "
         "1 to 16"},
        {"MultiplierOfZero",
         File("{key: k, rate_limit: {unit: day, unit_multiplier: 0}}"),
         "e.yaml:3:53: descriptors[0].rate_limit.unit_multiplier: got 0, want "
         "at least 1"},
        {"MultiplierTooLarge",
         File("{key: k, rate_limit: {unit: year, unit_multiplier: 11}}"),
         "e.yaml:3:54: descriptors[0].rate_limit.unit_multiplier: period: got "
         "96360h, want whole nanoseconds, 1ns to 3650 days"},
    }),
    [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace tollgate
