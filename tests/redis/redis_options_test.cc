#include "server/redis/redis_options.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tollgate::redis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ParseRedisUrl, ReadsOneAddress) {
  const auto options = ParseRedisUrl("redis://localhost:7000");
  ASSERT_THAT(options, IsOk());
  EXPECT_THAT(options->seeds, ElementsAre(Endpoint{"localhost", 7000}));
  EXPECT_EQ(options->topology, Topology::kDetect);
  EXPECT_EQ(options->user, "");
  EXPECT_EQ(options->password, "");
}

TEST(ParseRedisUrl, TakesTheUsualPortIfNoneIsGiven) {
  const auto options = ParseRedisUrl("redis://cache/");
  ASSERT_THAT(options, IsOk());
  EXPECT_THAT(options->seeds, ElementsAre(Endpoint{"cache", 6379}));
}

TEST(ParseRedisUrl, ReadsSeveralAddressesAndIpv6) {
  const auto options = ParseRedisUrl("redis://a:1,[::1]:65535,10.0.0.1");
  ASSERT_THAT(options, IsOk());
  EXPECT_THAT(options->seeds,
              ElementsAre(Endpoint{"a", 1}, Endpoint{"::1", 65535},
                          Endpoint{"10.0.0.1", 6379}));
  EXPECT_EQ(options->seeds[1].ToString(), "[::1]:65535");
}

TEST(ParseRedisUrl, ReadsUserAndPasswordWithEscapes) {
  const auto options = ParseRedisUrl("redis://li%3Amit:p%40s@s:/w@h:1");
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->user, "li:mit");
  EXPECT_EQ(options->password, "p@s@s:/w");
  const auto password_alone = ParseRedisUrl("redis://:secret@h:1");
  ASSERT_THAT(password_alone, IsOk());
  EXPECT_EQ(password_alone->user, "");
  EXPECT_EQ(password_alone->password, "secret");
  const auto user_alone = ParseRedisUrl("redis://limiter@h:1");
  ASSERT_THAT(user_alone, IsOk());
  EXPECT_EQ(user_alone->user, "limiter");
  EXPECT_EQ(user_alone->password, "");
}

TEST(ParseRedisUrl, ReadsWhetherItIsACluster) {
  EXPECT_EQ(ParseRedisUrl("redis://h/?cluster=yes")->topology,
            Topology::kCluster);
  EXPECT_EQ(ParseRedisUrl("redis://h?cluster=no")->topology, Topology::kSingle);
  EXPECT_EQ(ParseRedisUrl("redis://h/?cluster=auto")->topology,
            Topology::kDetect);
}

TEST(ParseRedisUrl, SaysWhatToDoAboutTls) {
  EXPECT_THAT(ParseRedisUrl("rediss://h:1"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("TLS proxy, such as stunnel")));
}

TEST(ParseRedisUrl, NamesWhatIsWrong) {
  const std::vector<std::vector<std::string>> cases = {
      {"", "want redis://"},
      {"memory", "want redis://"},
      {"redis://", "address: want HOST:PORT"},
      {"redis://h:0", "address \"h\": want a port"},
      {"redis://h:65536", "address \"h\": want a port"},
      {"redis://h:1x", "address \"h\": want a port"},
      {"redis://h:1,", "address: want HOST:PORT"},
      {"redis://[::1", "address: want HOST:PORT"},
      {"redis://[::1]1", "address \"::1\": want a port"},
      {"redis://h\n:1", "address: want HOST:PORT"},
      {"redis://h/1", "got \"1\""},
      {"redis://h/?cluster=maybe", "got \"?cluster=maybe\""},
      {"redis://a%4:b@h", "user: want %XX"},
      {"redis://a:b%zz@h", "password: want %XX"},
  };
  for (const auto& row : cases) {
    EXPECT_THAT(ParseRedisUrl(row[0]),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(row[1])))
        << row[0];
  }
}

TEST(ParseRedisUrl, TakesSixtyFourAddressesAndNoMore) {
  std::string url = "redis://h";
  for (int i = 1; i < 64; ++i) url += ",h";
  EXPECT_THAT(ParseRedisUrl(url), IsOk());
  EXPECT_THAT(ParseRedisUrl(url + ",h"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("at most 64 addresses")));
}

TEST(ParseRedisUrl, NeverShowsThePassword) {
  for (const std::string rest :
       {"@h:1", "@h:0", "@h/9", "@", "@h/?x=y", "@h:1 ", ""}) {
    const auto options = ParseRedisUrl("redis://me:hush" + rest);
    if (options.ok()) {
      EXPECT_EQ(options->ToString(), "redis://me@h:1");
    } else {
      EXPECT_THAT(options.status().ToString(), Not(HasSubstr("hush")));
    }
  }
}

}  // namespace
}  // namespace tollgate::redis
