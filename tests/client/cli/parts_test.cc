// The command's parts that need no service.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "client/cli/json.h"
#include "client/cli/latency_histogram.h"
#include "client/cli/output.h"
#include "client/cli/server_cpu.h"
#include "tests/support/status_matchers.h"

namespace tollgate::cli {
namespace {

using ::testing::HasSubstr;

TEST(LatencyHistogram, IsZeroWhileEmpty) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.Quantile(500), 0);
  EXPECT_EQ(histogram.max(), 0);
}

TEST(LatencyHistogram, IsExactForSmallValues) {
  LatencyHistogram histogram;
  for (int64_t ns = 1; ns <= 60; ++ns) histogram.Add(ns);
  EXPECT_EQ(histogram.Quantile(500), 30);
  EXPECT_EQ(histogram.Quantile(1000), 60);
  EXPECT_EQ(histogram.Quantile(0), 1);
}

TEST(LatencyHistogram, NamesTheValueAtTheRankAndNotTheOneBefore) {
  LatencyHistogram histogram;
  for (int i = 0; i < 990; ++i) histogram.Add(10);
  for (int i = 0; i < 10; ++i) histogram.Add(50);
  EXPECT_EQ(histogram.Quantile(990), 10);
  EXPECT_EQ(histogram.Quantile(991), 50);
}

TEST(LatencyHistogram, IsAtMostAThirtySecondTooHighAndNeverTooLow) {
  for (int64_t ns = 1; ns < (int64_t{1} << 40); ns = ns * 9 / 8 + 1) {
    LatencyHistogram histogram;
    histogram.Add(ns);
    histogram.Add(std::numeric_limits<int64_t>::max());
    EXPECT_GE(histogram.Quantile(500), ns);
    EXPECT_LE(histogram.Quantile(500), ns + ns / 32);
  }
}

TEST(LatencyHistogram, MergesCountsAndTheHighest) {
  LatencyHistogram a;
  LatencyHistogram b;
  a.Add(1);
  b.Add(3);
  b.Add(5);
  a.Merge(b);
  EXPECT_EQ(a.count(), 3);
  EXPECT_EQ(a.Quantile(500), 3);
  EXPECT_EQ(a.max(), 5);
}

TEST(Output, HasColoursOnATerminalThatCanUnlessNoColorIsSet) {
  EXPECT_EQ(ChoosePalette(true, nullptr, "xterm"), Palette::kColored);
  EXPECT_EQ(ChoosePalette(true, "", "xterm"), Palette::kColored);
  EXPECT_EQ(ChoosePalette(true, "0", "xterm"), Palette::kPlain);
  EXPECT_EQ(ChoosePalette(false, nullptr, "xterm"), Palette::kPlain);
  EXPECT_EQ(ChoosePalette(true, nullptr, "dumb"), Palette::kPlain);
  EXPECT_EQ(ChoosePalette(true, nullptr, nullptr), Palette::kPlain);
}

TEST(Output, ATableLeavesEmptyColumnsOutAndEndsNoLineWithASpace) {
  Table table({"A", "B", "LONGER"});
  table.AddRow({{"\xc3\xa9t\xc3\xa9"}, {}, {"x"}});
  table.AddRow({{"b", Tint::kRed}, {}, {}});
  EXPECT_EQ(table.ToString(Palette::kPlain),
            "  A    LONGER\n"
            "  \xc3\xa9t\xc3\xa9  x\n"
            "  b\n");
  EXPECT_THAT(table.ToString(Palette::kColored),
              HasSubstr("\n  \033[31mb\033[0m\n"));
}

TEST(Output, EscapesWhatATerminalWouldObeyOrHide) {
  const auto plain = [](absl::string_view text) {
    return Tinted(text, Tint::kNone, Palette::kPlain);
  };
  EXPECT_EQ(plain("\x1b[2J\r\n\t\x7f"), "\\x1b[2J\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(plain(absl::string_view("\0", 1)), "\\x00");
  // U+009B is an escape sequence's beginning in one character; U+00A0 is none.
  EXPECT_EQ(plain("\xc2\x9b"
                  "2J\xc2\xa0"),
            "\\xc2\\x9b2J\xc2\xa0");
  // Turns what follows around; has no width.
  EXPECT_EQ(plain("a\xe2\x80\xae"
                  "b"),
            "a\\xe2\\x80\\xaeb");
  EXPECT_EQ(plain("a\xe2\x80\x8b"), "a\\xe2\\x80\\x8b");
  EXPECT_EQ(plain("\xf3\xa0\x81\x81"), "\\xf3\\xa0\\x81\\x81");
  // Not UTF-8: alone, cut off, overlong.
  EXPECT_EQ(plain("\x9b"
                  "x\xff"),
            "\\x9bx\\xff");
  EXPECT_EQ(plain("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(plain("\xc0\x9b"), "\\xc0\\x9b");
  EXPECT_EQ(plain("é€😀 ü"), "é€😀 ü");
}

TEST(Json, EscapesWhatJsonForbids) {
  EXPECT_EQ(JsonString("a\"b\\c\n\x01"), R"("a\"b\\c\u000a\u0001")");
  EXPECT_EQ(JsonString("\xc3\xa9"), "\"\xc3\xa9\"");
  EXPECT_EQ(JsonString("a\xff"), "\"a\\ufffd\"");
}

TEST(ServerCpu, ReadsAProcessWhoseNameHoldsAParenthesis) {
  EXPECT_EQ(
      *ParseProcStat("7 (a) (b c) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0", 100),
      absl::Seconds(3));
  EXPECT_THAT(ParseProcStat("7 (a) S 1", 100),
              StatusIs(absl::StatusCode::kUnknown, HasSubstr("format")));
}

TEST(ServerCpu, FindsTheMetricAmongOthers) {
  EXPECT_EQ(*ParseCpuMetric("# TYPE process_cpu_seconds_total counter\n"
                            "process_cpu_seconds_total_x 1\n"
                            "process_cpu_seconds_total 2.5\n"),
            absl::Milliseconds(2500));
  EXPECT_THAT(ParseCpuMetric("up 1\n"),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("process_cpu_seconds_total")));
}

}  // namespace
}  // namespace tollgate::cli
