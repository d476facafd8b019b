#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/rules/rule_file.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class LoadRulesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "tollgate_rules_XXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    dir_ = path;
  }
  void TearDown() override { fs::remove_all(dir_); }

  void Write(const std::string& name, const std::string& text) {
    fs::create_directories((dir_ / name).parent_path());
    std::ofstream(dir_ / name, std::ios::binary) << text;
  }
  std::string Path(const std::string& name) { return (dir_ / name).string(); }
  absl::Status Errors(const std::string& path) {
    return ToStatus(LoadRules(path).errors);
  }

  fs::path dir_;
};

std::string RuleNamed(const std::string& name) {
  return absl::StrCat("domain: shop\nrules:\n  - {name: ", name,
                      ", limit: 1/second}\n");
}

TEST_F(LoadRulesTest, ReadsOneFileWhateverItsName) {
  Write("rules.conf", RuleNamed("a"));

  const LoadedRules loaded = LoadRules(Path("rules.conf"));

  ASSERT_THAT(ToStatus(loaded.errors), IsOk());
  ASSERT_EQ(loaded.rules.size(), 1U);
  EXPECT_EQ(loaded.rules[0].name, "a");
}

TEST_F(LoadRulesTest, ReadsAMountedConfigMapOnce) {
  Write("..2024_05_01/config.yaml", RuleNamed("a"));
  fs::create_directory_symlink("..2024_05_01", dir_ / "..data");
  fs::create_symlink("..data/config.yaml", dir_ / "config.yaml");
  Write(".config.yaml.swp", std::string("b0VIM\0\xFF\x04", 8));
  Write(".hidden.yaml", "hello: [");
  Write("notes.txt", "hello: [");

  const LoadedRules loaded = LoadRules(dir_.string());

  EXPECT_THAT(ToStatus(loaded.errors), IsOk());
  ASSERT_EQ(loaded.rules.size(), 1U);
  EXPECT_EQ(loaded.rules[0].name, "a");
  EXPECT_EQ(loaded.hash, ParseRules(RuleNamed("a"), "x").hash);
}

TEST_F(LoadRulesTest, ReadsADirectoryInTheOrderOfNamesAndNothingBelowIt) {
  Write("20.yml", RuleNamed("second"));
  Write("10.yaml", RuleNamed("first"));
  Write("30.YAML", "hello: [");
  Write("40.yaml.bak", "hello: [");
  Write("below/50.yaml", "hello: [");
  Write("60.yaml/70.yaml", "hello: [");
  ASSERT_EQ(mkfifo(Path("80.yaml").c_str(), 0600), 0);

  const LoadedRules loaded = LoadRules(dir_.string());

  ASSERT_THAT(ToStatus(loaded.errors), IsOk());
  ASSERT_EQ(loaded.rules.size(), 2U);
  EXPECT_EQ(loaded.rules[0].name, "first");
  EXPECT_EQ(loaded.rules[1].name, "second");
}

TEST_F(LoadRulesTest, HashesTheSameRulesInOtherFilesTheSame) {
  Write("one/1.yaml", RuleNamed("a"));
  Write("one/2.yaml", RuleNamed("b"));
  Write("two/1.yaml", RuleNamed("b"));
  Write("two/2.yaml", RuleNamed("a"));

  EXPECT_EQ(LoadRules(Path("one")).hash, LoadRules(Path("two")).hash);
}

TEST_F(LoadRulesTest, JoinsFilesOfOneDomainAndNamesBothPlacesOfADuplicate) {
  Write("1.yaml", RuleNamed("a"));
  Write("2.yaml", RuleNamed("a"));
  Write("3.yaml", "domain: mall\nrules:\n  - {name: a, limit: 1/second}\n");

  EXPECT_THAT(Errors(dir_.string()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       absl::StrCat(Path("2.yaml"),
                                    ":3:12: rules[0].name: got \"a\", a name "
                                    "taken at ",
                                    Path("1.yaml"),
                                    ":3:12, want one not yet used in domain "
                                    "\"shop\"")));
}

TEST_F(LoadRulesTest, ReportsTheErrorsOfAllFiles) {
  Write("1.yaml", "domain: shop\nrule: []\n");
  Write("2.yaml", "hello: [");
  Write("3.yaml", RuleNamed("a"));

  const LoadedRules loaded = LoadRules(dir_.string());

  ASSERT_EQ(loaded.errors.size(), 3U);
  EXPECT_EQ(loaded.errors[0].file, Path("1.yaml"));
  EXPECT_EQ(loaded.errors[0].field, "rules");
  EXPECT_EQ(loaded.errors[1].field, "rule");
  EXPECT_EQ(loaded.errors[2].file, Path("2.yaml"));
  EXPECT_EQ(loaded.hash, "");
}

TEST_F(LoadRulesTest, CountsTheRulesOfAllFilesTogether) {
  std::string yaml = "domain: shop\nrules:\n";
  for (size_t i = 0; i < kMaxRulesLoaded; ++i) {
    absl::StrAppend(&yaml, "- {name: r", i, ", limit: 1/day}\n");
  }
  Write("1.yaml", yaml);
  Write("2.yaml", RuleNamed("a"));

  EXPECT_THAT(Errors(dir_.string()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       absl::StrCat(Path("2.yaml"),
                                    ":3:5: rules[0]: got more than 100000 "
                                    "rules in all files, want at most "
                                    "100000")));
}

TEST_F(LoadRulesTest, RefusesAPathThatIsNotThere) {
  EXPECT_THAT(Errors(Path("none.yaml")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       absl::StrCat(Path("none.yaml"),
                                    ": got No such file or directory, want a "
                                    "rule file or a directory of them")));
  EXPECT_THAT(Errors(""), StatusIs(absl::StatusCode::kInvalidArgument,
                                   HasSubstr("want a rule file")));
}

TEST_F(LoadRulesTest, RefusesADirectoryWithoutRuleFiles) {
  Write("notes.txt", "hello");

  EXPECT_THAT(Errors(dir_.string()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       absl::StrCat(dir_.string(),
                                    ": got a directory without rule files, "
                                    "want *.yaml or *.yml in it")));
}

TEST_F(LoadRulesTest, RefusesAFileThatCannotBeRead) {
  Write("1.yaml", RuleNamed("a"));
  fs::create_symlink("nowhere", dir_ / "2.yaml");

  EXPECT_THAT(Errors(dir_.string()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       absl::StrCat(Path("2.yaml"),
                                    ": got No such file or directory, want a "
                                    "rule file that can be read")));
  // Opens and then refuses to be read, even by root.
  EXPECT_THAT(Errors("/proc/self/mem"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "/proc/self/mem: got Input/output error, want a rule "
                       "file that can be read"));
}

TEST_F(LoadRulesTest, StopsReadingAFileThatNeverEnds) {
  EXPECT_THAT(Errors("/dev/zero"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("got more than 4194304 bytes")));
}

std::string EnvoyDomain(const std::string& domain, const std::string& key) {
  return absl::StrCat("domain: ", domain, "\ndescriptors:\n- {key: ", key,
                      ", rate_limit: {unit: day, requests_per_unit: 1}}\n");
}

TEST_F(LoadRulesTest, ReadsAMountedConfigMapOfTheEnvoyFormatOnce) {
  Write("..2024_05_01/config.yaml", EnvoyDomain("d", "a"));
  fs::create_directory_symlink("..2024_05_01", dir_ / "..data");
  fs::create_symlink("..data/config.yaml", dir_ / "config.yaml");
  Write(".config.yaml.swp", std::string("b0VIM\0\xFF\x04", 8));
  Write("notes.txt", "hello: [");

  const LoadedRules loaded = LoadRules(dir_.string());

  ASSERT_THAT(ToStatus(loaded.errors), IsOk());
  ASSERT_EQ(loaded.rules.size(), 2U);
  EXPECT_EQ(loaded.rules[1].name, "a");
}

TEST_F(LoadRulesTest, FilesOfBothFormatsMayStandSideBySide) {
  Write("a.yaml", EnvoyDomain("d", "a"));
  Write("b.yml", RuleNamed("native"));
  Write("c.yaml", EnvoyDomain("e", "a"));

  const LoadedRules loaded = LoadRules(dir_.string());

  ASSERT_THAT(ToStatus(loaded.errors), IsOk());
  EXPECT_EQ(loaded.rules.size(), 5U);
}

TEST_F(LoadRulesTest, ADomainIsOfOneFormat) {
  Write("a.yaml", RuleNamed("native"));
  Write("b.yaml", EnvoyDomain("shop", "a"));

  EXPECT_THAT(Errors(dir_.string()).message(),
              AllOf(HasSubstr("a.yaml:"), HasSubstr("b.yaml has in the Envoy"),
                    HasSubstr("want one format in a domain")));
}

TEST_F(LoadRulesTest, TwoEnvoyFilesOfOneDomainAreAnErrorUnlessMerged) {
  Write("a.yaml", EnvoyDomain("d", "'x*'"));
  Write("b.yaml", EnvoyDomain("d", "k"));

  EXPECT_THAT(Errors(dir_.string()).message(),
              AllOf(HasSubstr("b.yaml:1:9: domain: duplicate domain 'd' in "
                              "config file"),
                    HasSubstr("first in"), HasSubstr("a.yaml")));
  LoadOptions options;
  options.merge_domains = true;
  const LoadedRules merged = LoadRules(dir_.string(), options);
  ASSERT_THAT(ToStatus(merged.errors), IsOk());
  ASSERT_EQ(merged.rules.size(), 3U);
  EXPECT_EQ(merged.rules[1].name, "x*") << "in the order of the files' names";
  EXPECT_EQ(merged.rules[2].name, "k");
}

TEST_F(LoadRulesTest, MergedDomainsMayNotShareATopLevelKey) {
  Write("a.yaml", EnvoyDomain("d", "k"));
  Write("b.yaml",
        "domain: d\ndescriptors: [{key: k, descriptors: [{key: x}]}]\n");
  LoadOptions options;
  options.merge_domains = true;

  EXPECT_THAT(ToStatus(LoadRules(dir_.string(), options).errors).message(),
              HasSubstr("b.yaml:2:21: descriptors[0].key: duplicate descriptor "
                        "composite key 'd.k'"));
}

TEST_F(LoadRulesTest, OneBadFileRefusesAll) {
  Write("a.yaml", EnvoyDomain("d", "a"));
  Write("b.yaml", "domain: e\ndescriptors: [{key: k, ratelimit: 1}]\n");

  const LoadedRules loaded = LoadRules(dir_.string());

  EXPECT_THAT(ToStatus(loaded.errors).message(),
              HasSubstr("b.yaml:2:24: config error, unknown key 'ratelimit'"));
  EXPECT_EQ(loaded.hash, "");
}

}  // namespace
}  // namespace tollgate
