#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limiter/algorithm.h"
#include "server/limiter/rule_set.h"
#include "server/rules/rule_file.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

const std::string kRulesDir = TOLLGATE_SOURCE_DIR "/deploy/rules/";

std::vector<std::string> YamlBlocks(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> blocks;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line == "```yaml") {
      blocks.emplace_back();
      inside = true;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      absl::StrAppend(&blocks.back(), line, "\n");
    }
  }
  return blocks;
}

TEST(DocumentedRules, LoadFromTheExampleFile) {
  const LoadedRules loaded = LoadRules(kRulesDir + "example.yaml");

  ASSERT_THAT(ToStatus(loaded.errors), IsOk());
  std::vector<std::string> rules;
  for (const Rule& rule : loaded.rules) {
    EXPECT_EQ(rule.domain, "shop");
    std::string text = rule.name;
    for (const Limit& limit : rule.limits) {
      absl::StrAppend(&text, " ", limit.ToString());
    }
    if (rule.cost != 1) absl::StrAppend(&text, " cost ", rule.cost);
    if (rule.mode == Mode::kShadow) absl::StrAppend(&text, " shadow");
    rules.push_back(text);
  }
  EXPECT_THAT(rules, testing::ElementsAre(
                         "per-user 10/1s burst 20",
                         "per-client 50/1s 10000/24h", "login 5/1m",
                         "search-cost 100/1m cost 10", "trial 1/1s shadow"));
  EXPECT_THAT(RuleSet::Create(loaded.rules), IsOk());
}

TEST(DocumentedRules, LoadFromEveryExampleOfThePage) {
  const std::vector<std::string> blocks = YamlBlocks(kRulesDir + "README.md");

  ASSERT_GE(blocks.size(), 2U);
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_THAT(
        ToStatus(ParseRules(blocks[i], absl::StrCat("block ", i + 1)).errors),
        IsOk())
        << blocks[i];
  }
}

TEST(DocumentedRules, LoadFromTheFilesThatUseTheWholeLanguage) {
  for (const char* file : {"algorithms.yaml", "policies.yaml", "envoy.yaml"}) {
    const LoadedRules loaded = LoadRules(kRulesDir + file);
    ASSERT_THAT(ToStatus(loaded.errors), IsOk());
    EXPECT_THAT(RuleSet::Create(loaded.rules), IsOk());
  }
  // As one directory too: their names do not clash.
  EXPECT_THAT(ToStatus(LoadRules(kRulesDir).errors), IsOk());
}

TEST(DocumentedRules, ShowEachAlgorithmInAFile) {
  std::vector<std::string> algorithms;
  for (const Rule& rule : LoadRules(kRulesDir + "algorithms.yaml").rules) {
    algorithms.emplace_back(rule.algorithm->name());
  }
  std::vector<std::string> all;
  for (const absl::string_view name : AlgorithmNames()) all.emplace_back(name);
  EXPECT_THAT(algorithms, testing::UnorderedElementsAreArray(all));
}

// What a field of the table needs beside it, to be a rule.
std::string RuleWith(const std::string& field, const std::string& example) {
  if (field == "name") return "limit: 1/second, " + example;
  std::string rule = "name: a, " + example;
  if (field == "max_delay") {
    rule += ", algorithm: leaky_bucket";
  } else if (field == "slot_ttl") {
    return rule + ", algorithm: concurrency, limit: 2";
  } else if (field == "skips") {
    return rule +
           ", unlimited: true}, {name: per-user, limit: 1/second}, {name: "
           "per-client, limit: 1/second";
  }
  const bool has_limit =
      field == "limit" || field == "tier" || field == "unlimited";
  return has_limit ? rule : rule + ", limit: 1/second";
}

// Each row of the table has its own example: `field` | ... | `example` |.
TEST(DocumentedRules, LoadFromEveryRowOfTheTable) {
  std::ifstream in(kRulesDir + "README.md");
  int rows = 0;
  for (std::string line; std::getline(in, line);) {
    if (line == "## The Envoy format") break;  // its rows have no example
    const size_t end = line.rfind("` |");
    if (line.rfind("| `", 0) != 0 || end == std::string::npos) continue;
    const size_t start = line.rfind('`', end - 1) + 1;
    const std::string example =
        absl::StrReplaceAll(line.substr(start, end - start), {{"\\|", "|"}});
    const std::string field = line.substr(3, line.find('`', 3) - 3);
    ASSERT_EQ(example.rfind(field + ": ", 0), 0U) << line;
    const std::string yaml =
        field == "domain" || field == "rules"
            ? absl::StrCat("{", field == "rules" ? "domain: a" : "rules: []",
                           ", ", example, "}")
            : absl::StrCat("{domain: a, rules: [{", RuleWith(field, example),
                           "}]}");
    EXPECT_THAT(ToStatus(ParseRules(yaml, field).errors), IsOk()) << yaml;
    ++rows;
  }
  EXPECT_EQ(rows, 19);
}

}  // namespace
}  // namespace tollgate
