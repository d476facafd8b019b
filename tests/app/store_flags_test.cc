#include "server/app/store_flags.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/app/server_options.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_files.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRedis[] = "redis://127.0.0.1:1";

// With --rules, which is required.
absl::StatusOr<ParsedFlags> Parse(std::vector<std::string> flags) {
  std::vector<const char*> argv = {"tollgate-server", "--rules=r.yaml"};
  for (const std::string& flag : flags) argv.push_back(flag.c_str());
  return ParseServerFlags(static_cast<int>(argv.size()), argv.data());
}

auto Refused(const std::string& message) {
  return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message));
}

// The environment has a password for as long as this lives.
class PasswordVariable {
 public:
  explicit PasswordVariable(const char* password) {
    ::setenv("TOLLGATE_STORE_PASSWORD", password, 1);
  }
  ~PasswordVariable() { ::unsetenv("TOLLGATE_STORE_PASSWORD"); }
  PasswordVariable(const PasswordVariable&) = delete;
  PasswordVariable& operator=(const PasswordVariable&) = delete;
};

// What a server with these flags logs in with.
absl::StatusOr<redis::RedisOptions> Login(std::vector<std::string> flags) {
  const auto parsed = Parse(std::move(flags));
  if (!parsed.ok()) return parsed.status();
  return RedisOf(parsed->options);
}

absl::StatusOr<redis::RedisOptions> LoginByFile(const std::string& text) {
  TempFiles files;
  return Login({std::string("--store=") + kRedis,
                "--store-password-file=" + files.Write("password", text)});
}

TEST(StoreFlags, HaveDefaultsThatNeedNoRedis) {
  const auto parsed = Parse({});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->options.store, "memory");
  EXPECT_EQ(parsed->options.store_timeout, absl::Milliseconds(10));
  EXPECT_EQ(parsed->options.replicas, 1U);
  EXPECT_FALSE(parsed->options.start_without_store);
  EXPECT_EQ(parsed->options.store_password, "");
}

TEST(StoreFlags, TakeMemoryOrAUrlOfRedis) {
  const auto parsed = Parse({"--store=redis://a:1,b:2/?cluster=yes"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->options.store, "redis://a:1,b:2/?cluster=yes");
  EXPECT_TRUE(Parse({"--store=memory"}).ok());
  EXPECT_THAT(Parse({"--store=disk"}),
              Refused("--store: redis URL: want redis://"));
  EXPECT_THAT(Parse({"--store="}), Refused("--store"));
  EXPECT_THAT(Parse({"--store=rediss://a:1"}), Refused("TLS"));
  EXPECT_THAT(Parse({"--store=redis://a:65536"}), Refused("port"));
  EXPECT_THAT(Parse({"--store=redis://a", "--state-file=s"}),
              Refused("--state-file: does not go with a --store"));
}

TEST(StoreFlags, BoundTheTimeout) {
  for (const char* good : {"1ms", "10s", "2.5ms"}) {
    EXPECT_TRUE(Parse({std::string("--store-timeout=") + good}).ok()) << good;
  }
  for (const char* bad : {"999us", "10001ms", "0s", "-1s", "inf", "10"}) {
    EXPECT_THAT(Parse({std::string("--store-timeout=") + bad}),
                Refused("--store-timeout: got \"" + std::string(bad) +
                        "\", want a duration from 1ms to 10s"))
        << bad;
  }
}

TEST(StoreFlags, BoundTheReplicas) {
  for (const char* good : {"1", "10000"}) {
    EXPECT_TRUE(Parse({std::string("--replicas=") + good}).ok()) << good;
  }
  for (const char* bad : {"0", "10001", "-1", "4294967297", "2.0", "x"}) {
    EXPECT_THAT(Parse({std::string("--replicas=") + bad}),
                Refused("--replicas: got \"" + std::string(bad) +
                        "\", want a whole number from 1 to 10000"))
        << bad;
  }
}

TEST(StoreFlags, SayInFullWhetherToStartWithoutTheStore) {
  EXPECT_TRUE(
      Parse({"--start-without-store=true"})->options.start_without_store);
  EXPECT_FALSE(
      Parse({"--start-without-store=false"})->options.start_without_store);
  EXPECT_THAT(
      Parse({"--start-without-store=yes"}),
      Refused("--start-without-store: got \"yes\", want true or false"));
}

TEST(StorePassword, IsTheFilesTextWithoutOneLineEnd) {
  for (const char* text : {"p:w@/ ", "p:w@/ \n"}) {
    const auto redis = LoginByFile(text);
    ASSERT_TRUE(redis.ok()) << redis.status();
    EXPECT_EQ(redis->password, "p:w@/ ");
    EXPECT_EQ(redis->user, "");
  }
  EXPECT_EQ(LoginByFile("p\n\n")->password, "p\n");
}

TEST(StorePassword, MayBeTheEnvironmentsForTheUserOfTheUrl) {
  const PasswordVariable variable("secret");
  const auto redis = Login({"--store=redis://limiter@127.0.0.1:1"});
  ASSERT_TRUE(redis.ok()) << redis.status();
  EXPECT_EQ(redis->user, "limiter");
  EXPECT_EQ(redis->password, "secret");
}

TEST(StorePassword, IsNoneWhereTheEnvironmentHasAnEmptyOne) {
  const PasswordVariable variable("");
  EXPECT_EQ(Login({"--store=redis://:pw@a"})->password, "pw");
  EXPECT_TRUE(Parse({}).ok());
}

TEST(StorePassword, OfAFileIsBoundedOnBothSides) {
  constexpr size_t kMost = 65'536;
  EXPECT_EQ(LoginByFile(std::string(kMost, 'x') + "\n")->password.size(),
            kMost);
  EXPECT_EQ(LoginByFile("x")->password, "x");
  for (const std::string& bad :
       {std::string(), std::string("\n"), std::string(kMost + 1, 'x'),
        std::string(2 * kMost, 'x')}) {
    EXPECT_THAT(LoginByFile(bad),
                AllOf(Refused("--store-password-file: got \""),
                      Refused("want a password of 1 to 65536 bytes")));
  }
}

TEST(StorePassword, FilesThatCannotBeReadAreNamed) {
  EXPECT_THAT(
      Login({"--store=redis://a", "--store-password-file=/nonexistent/p"}),
      Refused("--store-password-file: got \"/nonexistent/p\", want a file that "
              "can be read: No such file"));
  EXPECT_THAT(Login({"--store=redis://a", "--store-password-file=/tmp"}),
              Refused("want a file that can be read: Is a directory"));
  EXPECT_THAT(Parse({"--store=redis://a", "--store-password-file", ""}),
              Refused("--store-password-file: got \"\", want the path"));
}

TEST(StorePassword, IsGivenInOnePlace) {
  const std::string with = "--store=redis://:hidden@a";
  const std::string file = "--store-password-file=f";
  EXPECT_THAT(Parse({with, file}),
              AllOf(Refused("--store-password-file: there is a password in the "
                            "URL of --store too, want it in one place"),
                    Not(Refused("hidden"))));
  const PasswordVariable variable("secret");
  EXPECT_THAT(Parse({with}), Refused("TOLLGATE_STORE_PASSWORD: there is a "
                                     "password in the URL of --store too"));
  EXPECT_THAT(Parse({"--store=redis://a", file}),
              AllOf(Refused("TOLLGATE_STORE_PASSWORD: there is a password in "
                            "--store-password-file too"),
                    Not(Refused("secret"))));
}

TEST(StorePassword, GoesWithAStoreThatAsksForOne) {
  EXPECT_THAT(Parse({"--store-password-file=f"}),
              Refused("--store-password-file: does not go without a --store"));
  const PasswordVariable variable("secret");
  EXPECT_THAT(Parse({}), Refused("TOLLGATE_STORE_PASSWORD: does not go without "
                                 "a --store"));
}

}  // namespace
}  // namespace tollgate
