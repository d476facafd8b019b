// What we write is judged by Prometheus' own parser and linter.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "tests/metrics/metric_text.h"

namespace tollgate {
namespace {

// Runs `promtool check metrics` over `text`: its exit status, and what it
// complains about. A promtool that is missing makes the status 127.
int CheckMetrics(const std::string& text, std::string& complaints) {
  const std::string path =
      absl::StrCat(testing::TempDir(), "/tollgate_metrics.", ::getpid());
  std::ofstream(path, std::ios::binary) << text;
  const std::string command = "promtool check metrics < '" + path + "' 2>&1";
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return -1;
  char buffer[4096];
  size_t n = 0;
  while ((n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0) {
    complaints.append(buffer, n);
  }
  const int status = ::pclose(pipe);
  ::unlink(path.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Promtool, FindsNothingToComplainAbout) {
  Counted counted;
  counted.SetRules({PerUser("per-user", 2), PerUser("a\"b\\c", 5),
                    PerUser("\xC3\xA9t\xC3\xA9 {x=\"y\"}", 5)});
  for (int i = 0; i < 5; ++i) counted.Ask("shop", "ana");
  counted.Ask("nowhere", "ana");
  counted.metrics->CountArrival();
  counted.metrics->CountFinish(123'456);
  counted.metrics->SetRulesHash("0123abcd");
  std::string complaints;
  const std::string text =
      counted.metrics->Serialize({.buckets = 3, .swept = 4});
  EXPECT_EQ(CheckMetrics(text, complaints), 0) << complaints;
  EXPECT_EQ(complaints, "");
  // promtool 2.42 overlooks a series that occurs twice.
  std::set<absl::string_view> series;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line.empty() || line.front() == '#') continue;
    EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line;
  }
}

TEST(Promtool, ComplainsAboutABadName) {
  std::string complaints;
  EXPECT_NE(CheckMetrics("# HELP a x\n# TYPE a counter\na 1\n", complaints), 0);
}

}  // namespace
}  // namespace tollgate
