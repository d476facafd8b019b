// One file of inputs and outcomes through C++ and through Lua.
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/redis/golden_case.h"
#include "tests/redis/lua_bucket.h"
#include "tests/support/redis_process.h"

namespace tollgate::redis {
namespace {

struct Golden {
  std::vector<GoldenCase> cases;
  std::vector<GoldenOutcome> outcomes;
};

Golden ReadGolden() {
  Golden golden;
  std::ifstream file(TOLLGATE_GOLDEN_BUCKETS);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    ParseLine(line, golden.cases.emplace_back(),
              golden.outcomes.emplace_back());
  }
  EXPECT_GE(golden.cases.size(), 1000u);
  return golden;
}

void ExpectSame(const std::vector<GoldenCase>& cases,
                const std::vector<GoldenOutcome>& got,
                const std::vector<GoldenOutcome>& want) {
  ASSERT_EQ(got.size(), want.size());
  int differences = 0;
  for (size_t i = 0; i < cases.size() && differences < 10; ++i) {
    if (got[i] == want[i]) continue;
    ++differences;
    ADD_FAILURE() << LineOf(cases[i], got[i]) << "\nwant "
                  << LineOf(cases[i], want[i]);
  }
}

std::vector<GoldenOutcome> ByCpp(const std::vector<GoldenCase>& cases) {
  std::vector<GoldenOutcome> outcomes;
  for (const GoldenCase& c : cases) outcomes.push_back(OutcomeOf(c));
  return outcomes;
}

TEST(GoldenBuckets, AreWhatTheAlgorithmsSay) {
  const Golden golden = ReadGolden();
  ExpectSame(golden.cases, ByCpp(golden.cases), golden.outcomes);
}

TEST(GoldenBuckets, AreWhatTheScriptSays) {
  const Golden golden = ReadGolden();
  const RedisProcess server;
  LuaBucket lua(server.port());
  ExpectSame(golden.cases, lua.OutcomesOf(golden.cases), golden.outcomes);
}

class ScriptAndAlgorithms : public testing::TestWithParam<uint32_t> {};

INSTANTIATE_TEST_SUITE_P(Seeds, ScriptAndAlgorithms, testing::Values(1u, 2u));

TEST_P(ScriptAndAlgorithms, SayTheSame) {
  std::mt19937_64 random(GetParam());
  const RedisProcess server;
  LuaBucket lua(server.port());
  std::vector<GoldenCase> cases;
  while (cases.size() < 8'000) {
    for (GoldenCase& c : RandomCases(random, 20)) cases.push_back(std::move(c));
  }
  ExpectSame(cases, lua.OutcomesOf(cases), ByCpp(cases));
}

}  // namespace
}  // namespace tollgate::redis
