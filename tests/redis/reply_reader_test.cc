#include "server/redis/reply_reader.h"

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tollgate::redis {
namespace {

using ::testing::HasSubstr;

Answer Read(const std::string& bytes) {
  ReplyReader reader;
  EXPECT_THAT(reader.Feed(bytes), IsOk());
  const auto answer = reader.Next();
  EXPECT_THAT(answer, IsOk());
  EXPECT_TRUE(answer.ok() && answer->has_value()) << bytes;
  return answer.ok() && answer->has_value() ? **answer : Answer{};
}

TEST(ReplyReader, ReadsEachKind) {
  EXPECT_EQ(Read("+OK\r\n").reply.text, "OK");
  EXPECT_EQ(Read(std::string("$3\r\na\0b\r\n", 9)).reply.text,
            std::string("a\0b", 3));
  EXPECT_EQ(Read(":-42\r\n").reply.integer, -42);
  EXPECT_EQ(Read(":-42\r\n").reply.kind, Reply::Kind::kInteger);
  EXPECT_EQ(Read("$-1\r\n").reply.kind, Reply::Kind::kNil);
  EXPECT_EQ(Read("*-1\r\n").reply.kind, Reply::Kind::kNil);
  EXPECT_EQ(Read("*0\r\n").reply.kind, Reply::Kind::kArray);
  EXPECT_FALSE(Read("+OK\r\n").is_error);
}

TEST(ReplyReader, ReadsNestedArrays) {
  const Reply reply =
      Read("*3\r\n*2\r\n:1\r\n$1\r\nx\r\n$-1\r\n*1\r\n*1\r\n+y\r\n").reply;
  ASSERT_EQ(reply.elements.size(), 3U);
  EXPECT_EQ(reply.elements[0].elements[0].integer, 1);
  EXPECT_EQ(reply.elements[0].elements[1].text, "x");
  EXPECT_EQ(reply.elements[1].kind, Reply::Kind::kNil);
  EXPECT_EQ(reply.elements[2].elements[0].elements[0].text, "y");
}

TEST(ReplyReader, TakesBytesOneByOneAndRepliesInARow) {
  ReplyReader reader;
  std::string read;
  for (const char c : std::string(":1\r\n*1\r\n$2\r\nab\r\n-ERR x\r\n")) {
    ASSERT_THAT(reader.Feed({&c, 1}), IsOk());
    const auto answer = reader.Next();
    ASSERT_THAT(answer, IsOk());
    if (!answer->has_value()) continue;
    const Reply& reply = (*answer)->reply;
    absl::StrAppend(&read, reply.integer, reply.text, reply.elements.size(),
                    (*answer)->is_error ? "!" : "", ";");
  }
  EXPECT_EQ(read, "10;01;0ERR x0!;");
}

TEST(ReplyReader, TellsAnErrorFromText) {
  const Answer answer = Read("-OOM command not allowed\r\n");
  EXPECT_TRUE(answer.is_error);
  EXPECT_EQ(answer.reply.text, "OOM command not allowed");
}

TEST(ReplyReader, TakesAnErrorInAnArrayForTheWhole) {
  const Answer answer = Read("*3\r\n:1\r\n-WRONGTYPE a\r\n-ERR b\r\n");
  EXPECT_TRUE(answer.is_error);
  EXPECT_EQ(answer.reply.text, "WRONGTYPE a");
  EXPECT_TRUE(answer.reply.elements.empty());
}

TEST(ReplyReader, RefusesWhatIsNoReply) {
  for (const std::string bytes :
       {"HTTP/1.1 400 Bad Request\r\n", "\r\n", ":x\r\n", "$x\r\n", "*x\r\n",
        "$-2\r\n", "*-2\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"}) {
    ReplyReader reader;
    ASSERT_THAT(reader.Feed(bytes), IsOk());
    EXPECT_THAT(reader.Next(), StatusIs(absl::StatusCode::kDataLoss,
                                        HasSubstr("not a reply of Redis")))
        << bytes;
  }
}

TEST(ReplyReader, DoesNotBelieveALength) {
  ReplyReader reader;
  ASSERT_THAT(reader.Feed("*2147483647\r\n$500000000\r\nx"), IsOk());
  EXPECT_THAT(reader.Next(), IsOk());  // of no memory yet
  std::string much(ReplyReader::kMaxBytes + 1, 'x');
  ASSERT_THAT(reader.Feed(much), IsOk());
  EXPECT_THAT(reader.Next(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("longer than")));
}

TEST(ReplyReader, BoundsTheElementsOfOneReply) {
  const auto integers = [](size_t count) {
    std::string bytes = absl::StrCat("*", count, "\r\n");
    for (size_t i = 0; i < count; ++i) bytes += ":1\r\n";
    return bytes;
  };
  ReplyReader reader;
  for (int i = 0; i < 2; ++i) {
    ASSERT_THAT(reader.Feed(integers(ReplyReader::kMaxElements)), IsOk());
    EXPECT_THAT(reader.Next(), IsOk());
  }
  ASSERT_THAT(reader.Feed(integers(ReplyReader::kMaxElements + 1)), IsOk());
  EXPECT_THAT(reader.Next(), StatusIs(absl::StatusCode::kDataLoss,
                                      HasSubstr("too many elements")));
}

}  // namespace
}  // namespace tollgate::redis
