// Rules in Envoy's format, from their files to the answers of a whole server.

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/app/server_app.h"
#include "tests/support/tcp_client.h"
#include "tests/support/temp_files.h"

namespace tollgate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Hours instead of minutes, so that no token comes back while the test runs.
constexpr char kShop[] =
    "domain: shop\n"
    "descriptors:\n"
    "  - {key: group, value: bar, rate_limit: {unit: hour, requests_per_unit: "
    "10}}\n"
    "  - {key: special, value: s1, rate_limit: {unit: hour, requests_per_unit: "
    "3}}\n";

constexpr char kWildcards[] =
    "domain: w\n"
    "descriptors:\n"
    "  - {key: path, rate_limit: {unit: hour, requests_per_unit: 100}}\n"
    "  - {key: path, value: /api/*, rate_limit: {unit: hour, "
    "requests_per_unit: 2}}\n"
    "  - {key: path, value: /api/v1/*, rate_limit: {unit: hour, "
    "requests_per_unit: 1}}\n"
    "  - {key: path, value: /api/v1/ping, rate_limit: {unit: hour, "
    "requests_per_unit: 3}}\n"
    "  - {key: host, value: \"*.example.com\", rate_limit: {unit: hour, "
    "requests_per_unit: 1}}\n"
    "  - key: t\n"
    "    value: x\n"
    "    descriptors:\n"
    "      - {key: path, value: /n/*, rate_limit: {unit: hour, "
    "requests_per_unit: 1}}\n";

// A descriptor in JSON: {"key", "value", "key", "value"...}.
std::string Descr(const std::vector<std::string>& words) {
  std::vector<std::string> entries;
  for (size_t i = 0; i + 1 < words.size(); i += 2) {
    entries.push_back(absl::StrCat(R"({"key":")", words[i], R"(","value":")",
                                   words[i + 1], R"("})"));
  }
  return absl::StrCat(R"({"entries":[)", absl::StrJoin(entries, ","), "]}");
}

struct Served {
  TempFiles files;
  std::unique_ptr<ServerApp> app;

  void Start(const std::string& rules) {
    ServerOptions options;
    options.rules = rules;
    options.listen = "127.0.0.1:0";
    options.http_listen = "127.0.0.1:0";
    auto started = StartServerApp(options);
    ASSERT_TRUE(started.ok()) << started.status();
    app = *std::move(started);
  }
  // The whole answer to a request of these descriptors.
  [[nodiscard]] std::string Ask(const std::string& domain,
                                const std::vector<std::string>& descrs) const {
    return AskHttp(
        app->http_port(), "POST", "/json",
        absl::StrCat(R"({"domain":")", domain, R"(","descriptors":[)",
                     absl::StrJoin(descrs, ","), "]}"));
  }
  // The numbers that follow `field` in the answer.
  [[nodiscard]] std::vector<int> Numbers(
      const std::string& field, const std::string& domain,
      const std::vector<std::string>& descrs) const {
    const std::string answer = Ask(domain, descrs);
    std::vector<int> numbers;
    const std::string name = absl::StrCat("\"", field, "\":");
    for (size_t at = answer.find(name); at != std::string::npos;
         at = answer.find(name, at + 1)) {
      numbers.push_back(std::atoi(answer.c_str() + at + name.size()));
    }
    return numbers;
  }
  [[nodiscard]] std::vector<int> Limits(
      const std::vector<std::string>& words) const {
    return Numbers("requestsPerUnit", "w", {Descr(words)});
  }
};

void ExpectSharedQuotaIsSpared(const std::vector<std::string>& both) {
  Served served;
  ASSERT_NO_FATAL_FAILURE(
      served.Start(served.files.Write("rules.yaml", kShop)));
  std::vector<std::string> codes;
  for (int i = 0; i < 5; ++i) {
    codes.push_back(served.Ask("shop", both).substr(9, 3));
  }
  EXPECT_THAT(codes, ElementsAre("200", "200", "200", "429", "429"));
  const std::vector<std::string> alone = {Descr({"group", "bar"})};
  EXPECT_THAT(served.Numbers("limitRemaining", "shop", alone), ElementsAre(6));
  for (int i = 0; i < 6; ++i) {
    EXPECT_THAT(served.Ask("shop", alone), StartsWith("HTTP/1.1 200 "));
  }
  EXPECT_THAT(served.Ask("shop", alone), StartsWith("HTTP/1.1 429 "));
}

TEST(EnvoyRules, ChargeNoSiblingOfADescriptorThatRefuses) {
  const std::string group = Descr({"group", "bar"});
  const std::string special = Descr({"special", "s1"});
  ExpectSharedQuotaIsSpared({group, special});
  ExpectSharedQuotaIsSpared({special, group});
}

TEST(EnvoyRules, TakeTheExactNodeThenTheFirstWildcardThenTheKeyAlone) {
  Served served;
  ASSERT_NO_FATAL_FAILURE(
      served.Start(served.files.Write("rules.yaml", kWildcards)));
  EXPECT_THAT(served.Limits({"path", "/api/v1/ping"}), ElementsAre(3));
  EXPECT_THAT(served.Limits({"path", "/api/v1/zz"}), ElementsAre(2));
  EXPECT_THAT(served.Limits({"path", "/other"}), ElementsAre(100));
  EXPECT_THAT(served.Limits({"host", "a.example.com"}), ElementsAre(1));
  EXPECT_THAT(served.Limits({"host", "example.com"}), ElementsAre());
  EXPECT_THAT(served.Limits({"t", "x", "path", "/n/1"}), ElementsAre(1));
  EXPECT_THAT(served.Limits({"t", "x", "path", "/m/1"}), ElementsAre());
}

TEST(EnvoyRules, KeepABucketForEachValueOfAWildcard) {
  Served served;
  ASSERT_NO_FATAL_FAILURE(
      served.Start(served.files.Write("rules.yaml", kWildcards)));
  const auto remaining = [&](const std::string& path) {
    return served.Numbers("limitRemaining", "w", {Descr({"path", path})});
  };
  EXPECT_THAT(remaining("/api/one"), ElementsAre(1));
  EXPECT_THAT(remaining("/api/two"), ElementsAre(1));
}

TEST(EnvoyRules, AreLoadedOnceFromADirectoryThatKubernetesMounts) {
  Served served;
  const std::string config = served.files.Write("config.yaml", kShop);
  const std::filesystem::path root =
      std::filesystem::path(config).parent_path();
  const std::filesystem::path dated = root / "..2024_05_01";
  std::filesystem::create_directory(dated);
  std::filesystem::copy_file(config, dated / "config.yaml");
  std::filesystem::create_directory_symlink("..2024_05_01", root / "..data");
  (void)served.files.Write(".config.yaml.swp",
                           std::string("b0VIM\0\xFF\x01", 8));
  (void)served.files.Write("notes.txt", "hello: [");
  ASSERT_NO_FATAL_FAILURE(served.Start(root.string()));
  EXPECT_THAT(AskHttp(served.app->http_port(), "GET", "/readyz"),
              HasSubstr("ready: "));
  EXPECT_THAT(served.Ask("shop", {Descr({"group", "bar"})}),
              StartsWith("HTTP/1.1 200 "));
}

}  // namespace
}  // namespace tollgate
