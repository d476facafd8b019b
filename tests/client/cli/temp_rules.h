#ifndef TOLLGATE_TESTS_CLIENT_CLI_TEMP_RULES_H_
#define TOLLGATE_TESTS_CLIENT_CLI_TEMP_RULES_H_

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace tollgate::cli {

// A rule file of its own for each test, which goes with the test.
class TempRules {
 public:
  explicit TempRules(const std::string& text) {
    const ::testing::TestInfo* test =
        ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = absl::StrCat(::testing::TempDir(), test->test_suite_name(), ".",
                         test->name(), ".", ::getpid(), ".yaml");
    std::ofstream(path_) << text;
  }
  ~TempRules() { std::filesystem::remove(path_); }
  TempRules(const TempRules&) = delete;
  TempRules& operator=(const TempRules&) = delete;

  [[nodiscard]] std::string path() const { return path_; }

 private:
  std::string path_;
};

inline constexpr char kShop[] = R"(domain: shop
rules:
  - name: per-user
    key: [user]
    limit: 10/second
    burst: 20
  - name: login
    match: {endpoint: /login}
    key: [username]
    limit: [5/minute, 100/day]
  - name: per-client
    key: [api_key | ip]
    limit: 50/5m
    mode: shadow
  - name: forgotten
    limit: 1/day
    mode: "off"
  - name: all
    limit: 1000/second
    cost: 10
)";

}  // namespace tollgate::cli

#endif  // TOLLGATE_TESTS_CLIENT_CLI_TEMP_RULES_H_
