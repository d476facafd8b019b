// `tollgate` and files of the Envoy format.
#include "client/cli/convert.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/cli/run_tollgate.h"
#include "tests/client/cli/temp_rules.h"

namespace tollgate::cli {
namespace {

using ::testing::HasSubstr;

constexpr char kEdge[] = R"(domain: edge
descriptors:
  - key: path
    rate_limit: {unit: minute, requests_per_unit: 100}
  - key: path
    value: /api/*
    rate_limit: {unit: minute, requests_per_unit: 2}
  - key: path
    value: /api/v1/*
    rate_limit: {unit: minute, requests_per_unit: 1}
  - key: closed
    rate_limit: {unit: day}
)";

TEST(EnvoyFiles, ConvertPrintsANativeFile) {
  const TempRules rules(kEdge);
  const Ran ran = RunTollgate({"convert", rules.path()});
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(R"(
  - name: "path_/api/*"
    match: {"path": "/api/*"}
    key: ["path"]
    limit: [2/minute]
)"));
  EXPECT_THAT(ran.out, HasSubstr("# differs: path: there path_/api/*"));
}

TEST(EnvoyFiles, ConvertPrintsFixedWindowsIfTheyAreChosen) {
  const TempRules rules(kEdge);
  EXPECT_THAT(
      RunTollgate({"convert", rules.path(), "--envoy-algorithm=fixed_window"})
          .out,
      HasSubstr("algorithm: fixed_window"));
}

TEST(EnvoyFiles, ConvertWantsEnvoyFilesAndKnownDomains) {
  const TempRules native(kShop);
  Ran ran = RunTollgate({"convert", native.path()});
  EXPECT_EQ(ran.exit_status, 2);
  EXPECT_THAT(ran.err, HasSubstr("got no file of the Envoy format"));
  const TempRules edge(kEdge);
  ran = RunTollgate({"convert", edge.path(), "--domain=other"});
  EXPECT_EQ(ran.exit_status, 2);
  EXPECT_THAT(ran.err, HasSubstr("--domain: got other, want one of edge"));
}

TEST(EnvoyFiles, ExplainSaysWhichNodeIsPassedAndWhyNotTheOthers) {
  const TempRules rules(kEdge);
  const Ran ran =
      RunTollgate({"explain", "--rules", rules.path(), "path=/api/v1/x"});
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            R"(edge: 1 of 5 rules applies

  #  RULE         BUCKET          LIMIT     COST  MODE
  1  path_/api/*  path=/api/v1/x  2/minute  1     enforce

  RULE            DOES NOT APPLY BECAUSE
  _override       the request brings no limit of its own
  path            entry 0 is "path"="/api/v1/x": the first wildcard that matches, "path_/api/*", comes before it
  path_/api/v1/*  entry 0 is "path"="/api/v1/x": the first wildcard that matches, "path_/api/*", comes before it
  closed          entry 0 is "path"="/api/v1/x", not "closed"
)");
}

TEST(EnvoyFiles, ExplainShowsALimitOfNone) {
  const TempRules rules(kEdge);
  EXPECT_THAT(RunTollgate({"explain", "--rules", rules.path(), "closed=x"}).out,
              HasSubstr("closed=x  0/day"));
  EXPECT_THAT(
      RunTollgate({"explain", "--rules", rules.path(), "closed=x", "path=/"})
          .out,
      HasSubstr("the descriptor has 2 entries, the path has 1"));
}

TEST(EnvoyFiles, RulesListsThem) {
  const TempRules rules(kEdge);
  const Ran ran = RunTollgate({"rules", "--rules", rules.path()});
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("path_/api/*"));
  EXPECT_THAT(ran.out, HasSubstr("0 per day: refuses everything"));
}

TEST(EnvoyFiles, ValidateReportsMistakesInKnownWords) {
  const TempRules rules(
      "domain: d\ndescriptors: [{key: k, ratelimit: {unit: day}}]\n");
  const Ran ran = RunTollgate({"validate", rules.path()});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_THAT(ran.out, HasSubstr(":2:24: config error, unknown key "
                                 "'ratelimit'"));
}

}  // namespace
}  // namespace tollgate::cli
