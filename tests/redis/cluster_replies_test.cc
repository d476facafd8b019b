#include "server/redis/cluster_replies.h"

#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/redis/reply_reader.h"
#include "server/redis/run_error.h"
#include "tests/support/status_matchers.h"

namespace tollgate::redis {
namespace {

Reply Read(const std::string& bytes) {
  ReplyReader reader;
  EXPECT_THAT(reader.Feed(bytes), IsOk());
  auto answer = reader.Next();
  EXPECT_TRUE(answer.ok() && answer->has_value()) << bytes;
  return answer.ok() && answer->has_value() ? (**answer).reply : Reply{};
}

TEST(ParseRedirect, ReadsBothKinds) {
  const auto moved = ParseRedirect("MOVED 3999 127.0.0.1:6381", "h");
  ASSERT_TRUE(moved.has_value());
  EXPECT_FALSE(moved->ask);
  EXPECT_EQ(moved->slot, 3999);
  EXPECT_EQ(moved->to, (Endpoint{"127.0.0.1", 6381}));
  const auto ask = ParseRedirect("ASK 16383 ::1:7000", "h");
  ASSERT_TRUE(ask.has_value());
  EXPECT_TRUE(ask->ask);
  EXPECT_EQ(ask->to, (Endpoint{"::1", 7000}));
}

TEST(ParseRedirect, TakesTheHostThatWasAskedForOneLeftOut) {
  EXPECT_EQ(ParseRedirect("MOVED 0 :6381", "h")->to, (Endpoint{"h", 6381}));
}

TEST(ParseRedirect, TakesNothingElse) {
  for (const char* const text :
       {"", "MOVED", "MOVED 1", "MOVED 1 h", "MOVED 16384 h:1", "MOVED -1 h:1",
        "MOVED x h:1", "MOVED 1 h:0", "MOVED 1 h:65536", "MOVED 1 h:x",
        "MOVED 1 ?:1", "MOVED 1 h:1 more", "ERR 1 h:1", "ASKING 1 h:1"}) {
    EXPECT_FALSE(ParseRedirect(text, "h").has_value()) << text;
  }
}

TEST(ParseSlots, ReadsRangesWithTheirPrimaries) {
  const auto ranges = ParseSlots(
      Read("*2\r\n"
           "*4\r\n:0\r\n:5460\r\n"
           "*4\r\n$1\r\na\r\n:7000\r\n$2\r\nid\r\n*0\r\n"
           "*3\r\n$1\r\nb\r\n:7003\r\n$2\r\nid\r\n"
           "*3\r\n:5461\r\n:16383\r\n*3\r\n$-1\r\n:7001\r\n$2\r\nid\r\n"),
      "asked");
  ASSERT_THAT(ranges, IsOk());
  ASSERT_EQ(ranges->size(), 2U);
  EXPECT_EQ((*ranges)[0].first, 0);
  EXPECT_EQ((*ranges)[0].last, 5460);
  EXPECT_EQ((*ranges)[0].primary, (Endpoint{"a", 7000}));
  EXPECT_EQ((*ranges)[1].primary, (Endpoint{"asked", 7001}));
}

TEST(ParseSlots, LeavesOutNodesWithoutAnAddress) {
  const auto ranges = ParseSlots(
      Read("*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\n?\r\n:7000\r\n"), "asked");
  ASSERT_THAT(ranges, IsOk());
  EXPECT_TRUE(ranges->empty());
  EXPECT_TRUE(ParseSlots(Read("*0\r\n"), "asked")->empty());
}

TEST(ParseSlots, RefusesEveryOtherShape) {
  for (const char* const bytes :
       {":1\r\n", "$-1\r\n", "*1\r\n:1\r\n", "*1\r\n*2\r\n:0\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\na\r\n:1\r\n",
        "*1\r\n*3\r\n:-1\r\n:1\r\n*2\r\n$1\r\na\r\n:1\r\n",
        "*1\r\n*3\r\n:2\r\n:1\r\n*2\r\n$1\r\na\r\n:1\r\n",
        "*1\r\n*3\r\n$1\r\n0\r\n:1\r\n*2\r\n$1\r\na\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n$1\r\na\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*1\r\n$1\r\na\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n:1\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n"}) {
    EXPECT_FALSE(ParseSlots(Read(bytes), "asked").ok()) << bytes;
  }
}

TEST(RunError, IsNamedByTheFirstWordOfTheMessage) {
  EXPECT_EQ(ErrorOf("OOM command not allowed"), RunError::kOom);
  EXPECT_EQ(ErrorOf("READONLY You can't write"), RunError::kReadOnly);
  EXPECT_EQ(ErrorOf("LOADING"), RunError::kLoading);
  EXPECT_EQ(NameOf(ErrorOf("WRONGTYPE x")), "wrongtype");
  EXPECT_EQ(ErrorOf("ERR OOM"), RunError::kOther);
  EXPECT_EQ(ErrorOf(""), RunError::kOther);
  EXPECT_EQ(ErrorOf(" OOM"), RunError::kOther);
  EXPECT_EQ(NameOf(RunError::kOther), "other");
  EXPECT_EQ(NameOf(RunError::kTimeout), "timeout");
}

}  // namespace
}  // namespace tollgate::redis
