#include "server/state/state_keeper.h"

#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_files.h"

namespace tollgate::state {
namespace {

using ::testing::HasSubstr;

struct Counts final : StateObserver {
  void OnRestored(uint64_t buckets) override { restored = buckets; }
  void OnSaved(int64_t) override { ++saves; }
  void OnSaveFailed() override { ++failures; }
  uint64_t restored = 0;
  int saves = 0;
  int failures = 0;
};

// A process with a state file, from its start to its last save.
struct Server {
  explicit Server(const std::string& path)
      : keeper(*StateKeeper::Open({path, absl::Hours(1)})),
        clock(kStart),
        limiter(clock, LimiterOptions{.hash_key = keeper->hash_key()}) {
    SetRules(limiter, {MakeRule("user", {"user"}, {PerHour(10)})});
    keeper->Start(limiter, clock, counts);
  }
  bool Ask() { return AskFor(limiter, {{"user", "ana"}}).allowed(); }
  int Drain() {
    int count = 0;
    while (Ask()) ++count;
    return count;
  }
  void Stop() {
    keeper->Finish();
    keeper.reset();
  }

  Counts counts;
  std::unique_ptr<StateKeeper> keeper;
  FakeClock clock;
  Limiter limiter;
};

bool Exists(const std::string& path) { return std::filesystem::exists(path); }

TEST(StateKeeper, KeepsWhatIsSpentOverARestart) {
  const TempFiles files;
  {
    Server first(files.Path("state"));
    for (int i = 0; i < 7; ++i) first.Ask();
    first.Stop();
    EXPECT_EQ(first.counts.saves, 1);
  }
  Server second(files.Path("state"));
  EXPECT_EQ(second.counts.restored, 1u);
  EXPECT_EQ(second.Drain(), 3);
}

TEST(StateKeeper, WritesAFileForItselfAlone) {
  const TempFiles files;
  const std::string stale = files.Write("state.tmp", "left by a crash");
  Server server(files.Path("state"));
  server.Stop();
  struct stat facts {};
  ASSERT_EQ(stat(files.Path("state").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
  EXPECT_FALSE(Exists(stale));
}

TEST(StateKeeper, LetsOneProcessHaveTheFile) {
  const TempFiles files;
  Server first(files.Path("state"));
  EXPECT_THAT(StateKeeper::Open({files.Path("state"), absl::Hours(1)}).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("another process")));
  first.Stop();
  EXPECT_TRUE(StateKeeper::Open({files.Path("state"), absl::Hours(1)}).ok());
}

TEST(StateKeeper, SetsAsideWhatItCannotUse) {
  const TempFiles files;
  for (const std::string text : {"", "rules:\n", "TGSTATE\n"}) {
    const std::string path = files.Write("state", text);
    Server server(path);
    EXPECT_EQ(server.Drain(), 10);
    EXPECT_FALSE(Exists(path));
    EXPECT_EQ(files.Read("state.bad"), text);
    server.Stop();
    EXPECT_TRUE(Exists(path));
  }
}

TEST(StateKeeper, ServesWhereTheFileIsADirectory) {
  const TempFiles files;
  std::filesystem::create_directory(files.Path("state"));
  Server server(files.Path("state"));
  EXPECT_EQ(server.Drain(), 10);
  server.Stop();
  EXPECT_EQ(server.counts.failures, 1);
  EXPECT_TRUE(std::filesystem::is_directory(files.Path("state")));
  EXPECT_FALSE(Exists(files.Path("state.tmp")));
}

TEST(StateKeeper, ServesWhereNothingCanBeWritten) {
  const TempFiles files;
  Server server(files.Write("file", "") + "/state");
  EXPECT_EQ(server.Drain(), 10);
  server.Stop();
  EXPECT_EQ(server.counts.saves, 0);
  EXPECT_EQ(server.counts.failures, 1);
}

TEST(StateKeeper, KeepsTheOldFileWhereASaveFails) {
  const TempFiles files;
  {
    Server first(files.Path("state"));
    for (int i = 0; i < 7; ++i) first.Ask();
    first.Stop();
  }
  const std::string before = files.Read("state");
  {
    Server second(files.Path("state"));
    // A temporary file that cannot be replaced.
    std::filesystem::create_directories(files.Path("state.tmp/x"));
    second.Drain();
    second.Stop();
    EXPECT_EQ(second.counts.failures, 1);
  }
  EXPECT_EQ(files.Read("state"), before);
}

}  // namespace
}  // namespace tollgate::state
