// With real files and the real kernel. Unless a test is about polling, it polls
// once an hour, so that what it sees it was told of.
#include "server/rules/rule_watcher.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "tests/support/temp_files.h"

namespace tollgate {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr absl::Duration kQuiet = absl::Milliseconds(20);
constexpr absl::Duration kNever = absl::Hours(1);
// Long enough for a wrong report to come.
constexpr auto kPatience = std::chrono::milliseconds(250);

// A rule file with one rule of that name.
std::string RuleText(const std::string& name) {
  return "domain: shop\nrules:\n  - {name: " + name +
         ", key: [user], limit: 1/second}\n";
}

// What the watcher told of: the name of the first rule, or the first error.
class Reports {
 public:
  void Add(const LoadedRules& loaded) {
    const std::lock_guard<std::mutex> lock(mutex_);
    told_.push_back(Text(loaded));
    changed_.notify_all();
  }
  std::string Next() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return !told_.empty(); });
    return Pop();
  }
  // Empty if nothing comes for a while.
  std::string NextSoon() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, kPatience, [&] { return !told_.empty(); });
    return told_.empty() ? "" : Pop();
  }
  static std::string Text(const LoadedRules& loaded) {
    if (!loaded.errors.empty()) return "error: " + loaded.errors[0].ToString();
    return loaded.rules[0].name;
  }

 private:
  std::string Pop() {
    std::string first = std::move(told_.front());
    told_.pop_front();
    return first;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> told_;
};

struct Watched {
  SteadyClock clock;
  Reports reports;
  RuleWatcher watcher;
  LoadedRules first;

  explicit Watched(const std::string& path, absl::Duration poll = kNever)
      : watcher({.path = path, .poll = poll, .quiet = kQuiet}, clock),
        first(watcher.Load()) {
    watcher.Start([this](const LoadedRules& l) { reports.Add(l); });
  }
};

// As mv does within a directory.
void WriteAndRename(const TempFiles& files, const std::string& name,
                    const std::string& text) {
  fs::rename(files.Write(name + ".new", text), files.Path(name));
}

TEST(RuleWatcher, TellsOfAFileThatIsReplacedByRename) {
  const TempFiles files;
  Watched watched(files.Write("rules.yaml", RuleText("a")));
  EXPECT_TRUE(watched.watcher.is_told());
  EXPECT_EQ(Reports::Text(watched.first), "a");
  for (const char* name : {"b", "c", "d"}) {
    WriteAndRename(files, "rules.yaml", RuleText(name));
    EXPECT_EQ(watched.reports.Next(), name);
  }
}

TEST(RuleWatcher, TellsOfAFileThatIsWrittenInPlace) {
  const TempFiles files;
  Watched watched(files.Write("rules.yaml", RuleText("a")));
  (void)files.Write("rules.yaml", RuleText("b"));
  EXPECT_EQ(watched.reports.Next(), "b");
}

TEST(RuleWatcher, WaitsForTheEndOfASlowWriteAlsoIfItsHalfWouldParse) {
  const TempFiles files;
  Watched watched(files.Write("rules.yaml", RuleText("a")),
                  absl::Milliseconds(100));
  std::ofstream file(files.Path("rules.yaml"), std::ios::binary);
  file << RuleText("half") << std::flush;
  EXPECT_EQ(watched.reports.NextSoon(), "");
  file << "  - {name: whole, key: [ip], limit: 1/second}\n";
  file.close();
  EXPECT_EQ(watched.reports.Next(), "half");
  EXPECT_EQ(LoadRules(files.Path("rules.yaml")).rules.size(), 2U);
  EXPECT_EQ(watched.reports.NextSoon(), "");
}

TEST(RuleWatcher, TellsOfAHalfThatDoesNotParseAndThenOfTheWhole) {
  const TempFiles files;
  Watched watched(files.Write("rules.yaml", RuleText("a")));
  const std::string text = RuleText("b");
  (void)files.Write("rules.yaml", text.substr(0, text.size() - 8));
  EXPECT_THAT(watched.reports.Next(), HasSubstr("error: "));
  std::ofstream(files.Path("rules.yaml"), std::ios::app)
      << text.substr(text.size() - 8);
  EXPECT_EQ(watched.reports.Next(), "b");
}

TEST(RuleWatcher, TellsOnceOfAnEditorThatMovesTheOldFileAside) {
  const TempFiles files;
  Watched watched(files.Write("rules.yaml", RuleText("a")));
  (void)files.Write(".rules.yaml.swp", "swap");
  fs::rename(files.Path("rules.yaml"), files.Path("rules.yaml~"));
  (void)files.Write("rules.yaml", RuleText("b"));
  fs::remove(files.Path("rules.yaml~"));
  fs::remove(files.Path(".rules.yaml.swp"));
  EXPECT_EQ(watched.reports.Next(), "b");
  EXPECT_EQ(watched.reports.NextSoon(), "");
}

TEST(RuleWatcher, SaysNothingWhereTheBytesStayTheSame) {
  const TempFiles files;
  Watched watched(files.Write("rules.yaml", RuleText("a")),
                  absl::Milliseconds(20));
  (void)files.Write("rules.yaml", RuleText("a"));
  WriteAndRename(files, "rules.yaml", RuleText("a"));
  EXPECT_EQ(watched.reports.NextSoon(), "");
}

// A volume as the kubelet makes it: files are links through `..data`, which is
// a link to a directory of its own for each version.
struct ConfigMap {
  TempFiles files;
  std::string mount = files.Path("mount");
  int version = 0;

  explicit ConfigMap(const std::string& text) {
    fs::create_directory(mount);
    Update(text);
    fs::create_symlink("..data/rules.yaml", mount + "/rules.yaml");
  }
  void Update(const std::string& text) {
    const std::string old = "..v" + std::to_string(version);
    const std::string next = "..v" + std::to_string(++version);
    fs::create_directory(mount + "/" + next);
    std::ofstream(mount + "/" + next + "/rules.yaml") << text;
    fs::create_directory_symlink(next, mount + "/..data_tmp");
    fs::rename(mount + "/..data_tmp", mount + "/..data");
    fs::remove_all(mount + "/" + old);
  }
};

TEST(RuleWatcher, FollowsTheSwapsOfAConfigMapByDirectoryAndByFile) {
  for (const char* path : {"", "/", "/rules.yaml"}) {
    ConfigMap map(RuleText("a"));
    Watched watched(map.mount + path);
    EXPECT_EQ(Reports::Text(watched.first), "a");
    for (const char* name : {"b", "c", "d"}) {
      map.Update(RuleText(name));
      EXPECT_EQ(watched.reports.Next(), name) << path;
    }
  }
}

TEST(RuleWatcher, FollowsADirectoryOfFiles) {
  const TempFiles files;
  fs::create_directory(files.Path("rules"));
  (void)files.Write("rules/b.yaml", RuleText("b"));
  Watched watched(files.Path("rules"));
  (void)files.Write("rules/a.yml", RuleText("a"));
  EXPECT_EQ(watched.reports.Next(), "a");
  fs::remove(files.Path("rules/a.yml"));
  EXPECT_EQ(watched.reports.Next(), "b");
  fs::rename(files.Path("rules/b.yaml"), files.Path("rules/b.txt"));
  EXPECT_THAT(watched.reports.Next(), HasSubstr("without rule files"));
}

TEST(RuleWatcher, TellsOfAFileThatGoesAndComesBack) {
  const TempFiles files;
  const std::string path = files.Write("rules.yaml", RuleText("a"));
  Watched watched(path);
  for (const char* name : {"b", "c"}) {
    fs::remove(path);
    EXPECT_THAT(watched.reports.Next(), HasSubstr("No such file"));
    (void)files.Write("rules.yaml", RuleText(name));
    EXPECT_EQ(watched.reports.Next(), name);
  }
}

TEST(RuleWatcher, TellsOfADirectoryThatGoesAndComesBackOrIsReplaced) {
  const TempFiles files;
  const std::string path = files.Path("rules");
  fs::create_directory(path);
  (void)files.Write("rules/a.yaml", RuleText("a"));
  Watched watched(path);
  fs::remove_all(path);
  EXPECT_THAT(watched.reports.Next(), HasSubstr("error: "));
  fs::create_directory(files.Path("next"));
  (void)files.Write("next/a.yaml", RuleText("b"));
  fs::rename(files.Path("next"), path);
  std::string told = watched.reports.Next();
  // A removal of several steps may be told of in two.
  while (told != "b" && !told.empty()) told = watched.reports.Next();
  (void)files.Write("rules/a.yaml", RuleText("c"));
  EXPECT_EQ(watched.reports.Next(), "c");
}

TEST(RuleWatcher, FollowsALinkToAFileElsewhere) {
  const TempFiles files;
  const TempFiles elsewhere;
  const std::string target = elsewhere.Write("target.yaml", RuleText("a"));
  fs::create_symlink(target, files.Path("rules.yaml"));
  Watched watched(files.Path("rules.yaml"));
  (void)elsewhere.Write("target.yaml", RuleText("b"));
  EXPECT_EQ(watched.reports.Next(), "b");
}

TEST(RuleWatcher, TellsOfABadFileAndThenOfAGoodOne) {
  const TempFiles files;
  Watched watched(files.Write("rules.yaml", RuleText("a")));
  WriteAndRename(files, "rules.yaml", "rules: 7\n");
  EXPECT_THAT(watched.reports.Next(), HasSubstr("rules.yaml:1:"));
  WriteAndRename(files, "rules.yaml", RuleText("a"));
  EXPECT_EQ(watched.reports.Next(), "a");
}

TEST(RuleWatcher, FindsByPollingWhatNobodyTellsIt) {
  const TempFiles files;
  const TempFiles elsewhere;
  const std::string target = elsewhere.Write("target.yaml", RuleText("a"));
  fs::create_directory(files.Path("rules"));
  // Of a directory's links, where they point to is not listened to.
  fs::create_symlink(target, files.Path("rules/a.yaml"));
  Watched watched(files.Path("rules"), absl::Milliseconds(10));
  for (const char* name : {"b", "c"}) {
    (void)elsewhere.Write("target.yaml", RuleText(name));
    std::string told = watched.reports.Next();
    // It may have met the file as it was truncated.
    while (told != name) told = watched.reports.Next();
  }
}

TEST(RuleWatcher, LoadsAtOnceAndTellsAnywayWhenAsked) {
  const TempFiles files;
  Watched watched(files.Write("rules.yaml", RuleText("a")));
  for (int i = 0; i < 3; ++i) {
    watched.watcher.Reload();
    EXPECT_EQ(watched.reports.Next(), "a");
  }
}

TEST(RuleWatcher, LosesNothingThatChangesWhileItIsAskedToReload) {
  ConfigMap map(RuleText("r0"));
  Watched watched(map.mount);
  std::string last;
  for (int i = 1; i <= 50; ++i) {
    map.Update(RuleText("r" + std::to_string(i)));
    watched.watcher.Reload();
  }
  while (last != "r50") last = watched.reports.Next();
}

TEST(RuleWatcher, MissesNothingBetweenItsLoadAndItsStart) {
  const TempFiles files;
  const SteadyClock clock;
  Reports reports;
  RuleWatcher watcher({.path = files.Write("rules.yaml", RuleText("a")),
                       .poll = kNever,
                       .quiet = kQuiet},
                      clock);
  EXPECT_EQ(Reports::Text(watcher.Load()), "a");
  (void)files.Write("rules.yaml", RuleText("b"));
  watcher.Start([&](const LoadedRules& loaded) { reports.Add(loaded); });
  EXPECT_EQ(reports.Next(), "b");
}

}  // namespace
}  // namespace tollgate
