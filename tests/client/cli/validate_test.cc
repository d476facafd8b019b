#include "client/cli/validate.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/cli/run_tollgate.h"

namespace tollgate::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kGood[] = R"(domain: shop
rules:
  - name: per-user
    key: [user]
    limit: 10/second
  - name: all
    key: []
    limit: 100/second
)";

constexpr char kBad[] = R"(domain: shop
rules:
  - name: per-user
    key: [user]
    limit: 0/second
  - name: per-ip
    key: [ip]
    limit: 10/fortnight
)";

class Validate : public ::testing::Test {
 protected:
  Validate()
      : directory_(
            std::filesystem::path(::testing::TempDir()) /
            ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(directory_);
  }
  ~Validate() override { std::filesystem::remove_all(directory_); }

  std::string Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = directory_ / name;
    std::ofstream(path) << text;
    return path.string();
  }

  const std::filesystem::path directory_;
};

TEST_F(Validate, SaysWhatAGoodFileHolds) {
  const std::string path = Write("good.yaml", kGood);
  const Ran ran = RunTollgate({"validate", path});
  EXPECT_EQ(ran.exit_status, 0) << ran.out;
  EXPECT_THAT(ran.out,
              StartsWith(path + ": OK, 2 rules in 1 domain (shop), hash "));
  EXPECT_THAT(ran.err, IsEmpty());
}

TEST_F(Validate, ListsEveryMistakeOfAFileAndExitsWithOne) {
  const std::string path = Write("bad.yaml", kBad);
  const Ran ran = RunTollgate({"validate", path});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_THAT(ran.out,
              HasSubstr(path + ":5:12: rules[0].limit: got \"0/second\""));
  EXPECT_THAT(ran.out,
              HasSubstr(path + ":8:12: rules[1].limit: got \"10/fortnight\""));
  EXPECT_THAT(ran.out, HasSubstr(path + ": 2 mistakes\n"));
}

TEST_F(Validate, APathThatDoesNotExistExitsWithTwoAndTheOthersAreStillRead) {
  const std::string good = Write("good.yaml", kGood);
  const std::string missing = (directory_ / "missing.yaml").string();
  const Ran ran = RunTollgate({"validate", missing, good});
  EXPECT_EQ(ran.exit_status, 2);
  EXPECT_THAT(ran.err, HasSubstr(missing + ": no such file"));
  EXPECT_THAT(ran.out, HasSubstr(good + ": OK"));
}

TEST_F(Validate, ReadsADirectory) {
  Write("good.yaml", kGood);
  Write("notes.txt", "hello: [");
  const Ran ran = RunTollgate({"validate", directory_.string()});
  EXPECT_EQ(ran.exit_status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("2 rules"));
}

TEST_F(Validate, PrintsJsonForScripts) {
  const std::string good = Write("good.yaml", kGood);
  const std::string bad = Write("bad.yaml", kBad);
  const Ran ran = RunTollgate({"validate", "--json", good, bad});
  EXPECT_EQ(ran.exit_status, 1);
  google::protobuf::Struct json;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(ran.out, &json).ok())
      << ran.out;
  EXPECT_FALSE(json.fields().at("ok").bool_value());
  const auto& paths = json.fields().at("paths").list_value().values();
  ASSERT_EQ(paths.size(), 2);
  const auto& first = paths[0].struct_value().fields();
  EXPECT_EQ(first.at("path").string_value(), good);
  EXPECT_TRUE(first.at("ok").bool_value());
  EXPECT_EQ(first.at("rules").number_value(), 2);
  EXPECT_EQ(first.at("domains").list_value().values(0).string_value(), "shop");
  EXPECT_THAT(first.at("hash").string_value(), testing::Not(IsEmpty()));
  const auto& second = paths[1].struct_value().fields();
  EXPECT_FALSE(second.at("ok").bool_value());
  ASSERT_EQ(second.at("errors").list_value().values_size(), 2);
  const auto& error =
      second.at("errors").list_value().values(0).struct_value().fields();
  EXPECT_EQ(error.at("line").number_value(), 5);
  EXPECT_THAT(error.at("field").string_value(), HasSubstr("limit"));
}

TEST_F(Validate, WantsAPath) {
  const Ran ran = RunTollgate({"validate"});
  EXPECT_EQ(ran.exit_status, 2);
  EXPECT_THAT(ran.err, HasSubstr("PATH is required"));
}

}  // namespace
}  // namespace tollgate::cli
