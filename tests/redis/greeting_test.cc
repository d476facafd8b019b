#include "server/redis/greeting.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tollgate::redis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string>& Scripts() {
  static const auto& scripts = *new std::vector<std::string>{"return 7"};
  return scripts;
}

Answer Text(const std::string& text) {
  Answer answer;
  answer.reply.kind = Reply::Kind::kText;
  answer.reply.text = text;
  return answer;
}
Answer Error(const std::string& text) {
  Answer answer = Text(text);
  answer.is_error = true;
  return answer;
}
Answer Role(const std::string& role) {
  Answer answer;
  answer.reply.kind = Reply::Kind::kArray;
  answer.reply.elements = {Text(role).reply};
  return answer;
}
Answer EmptyArray() {
  Answer answer;
  answer.reply.kind = Reply::Kind::kArray;
  return answer;
}
const char kDigest[] = "0123456789abcdef0123456789abcdef01234567";

TEST(Greeting, AsksForWhatIsNeededAndNoMore) {
  RedisOptions options;
  options.topology = Topology::kSingle;
  std::string sent;
  EXPECT_EQ(Greeting(options, Scripts()).AppendTo(sent), 3U);
  EXPECT_EQ(sent,
            "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$8\r\nreturn 7\r\n"
            "*1\r\n$4\r\nROLE\r\n"
            "*3\r\n$4\r\nEVAL\r\n$8\r\nreturn 1\r\n$1\r\n0\r\n");
}

TEST(Greeting, LogsInFirst) {
  RedisOptions options;
  options.password = "pw";
  std::string sent;
  EXPECT_EQ(Greeting(options, Scripts()).AppendTo(sent), 5U);
  EXPECT_THAT(sent, HasSubstr("*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n*3\r\n"));
  options.user = "me";
  sent.clear();
  Greeting(options, Scripts()).AppendTo(sent);
  EXPECT_EQ(sent.find("*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$2\r\npw\r\n"), 0U);
}

TEST(Greeting, LearnsWhatTheServerIs) {
  RedisOptions options;
  Greeting greeting(options, Scripts());
  EXPECT_THAT(greeting.Take(Text(kDigest)), IsOk());
  EXPECT_THAT(greeting.Take(Role("slave")), IsOk());
  EXPECT_THAT(greeting.Take(EmptyArray()), IsOk());
  EXPECT_THAT(greeting.Take(Text("1")), IsOk());
  EXPECT_FALSE(greeting.is_primary());
  EXPECT_TRUE(greeting.slots().has_value());
  EXPECT_THAT(greeting.digests(), ::testing::ElementsAre(kDigest));
  EXPECT_THAT(greeting.Take(Text("1")), Not(IsOk()));
}

TEST(Greeting, DoesWithoutRoleAndSlotsIfTheUserMayNotAsk) {
  RedisOptions options;
  Greeting greeting(options, Scripts());
  EXPECT_THAT(greeting.Take(Text(kDigest)), IsOk());
  EXPECT_THAT(greeting.Take(Error("NOPERM role")), IsOk());
  EXPECT_THAT(greeting.Take(Error("NOPERM cluster")), IsOk());
  EXPECT_THAT(greeting.Take(Text("1")), IsOk());
  EXPECT_TRUE(greeting.is_primary());
  EXPECT_FALSE(greeting.slots().has_value());
}

TEST(Greeting, WantsAClusterIfToldSo) {
  RedisOptions options;
  options.topology = Topology::kCluster;
  Greeting greeting(options, Scripts());
  EXPECT_THAT(greeting.Take(Text(kDigest)), IsOk());
  EXPECT_THAT(greeting.Take(Role("master")), IsOk());
  EXPECT_THAT(greeting.Take(Error("ERR cluster support disabled")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("CLUSTER SLOTS: ERR cluster support")));
}

TEST(Greeting, SaysWhichCommandWasRefused) {
  RedisOptions options;
  options.password = "hush";
  EXPECT_THAT(Greeting(options, Scripts()).Take(Error("WRONGPASS no")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       ::testing::AllOf(HasSubstr("AUTH: WRONGPASS no"),
                                        Not(HasSubstr("hush")))));
  options.password = "";
  for (const Answer& answer : {Error("LOADING it"), Text("short"), EmptyArray(),
                               Text(std::string(40, 'x'))}) {
    EXPECT_THAT(Greeting(options, Scripts()).Take(answer),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("SCRIPT LOAD: ")));
  }
}

}  // namespace
}  // namespace tollgate::redis
