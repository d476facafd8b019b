#ifndef TOLLGATE_TESTS_RULES_BAD_FILE_H_
#define TOLLGATE_TESTS_RULES_BAD_FILE_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/rules/rule_file.h"
#include "tests/support/status_matchers.h"

namespace tollgate {

// A rule file called r.yaml that is refused, with these words.
struct BadFile {
  std::string name;
  std::string yaml;
  std::string errors;  // one a line
};

inline void PrintTo(const BadFile& bad, std::ostream* out) { *out << bad.name; }

inline std::string NameOfBadFile(const testing::TestParamInfo<BadFile>& bad) {
  return bad.param.name;
}

inline void ExpectRefused(const BadFile& bad) {
  const LoadedRules loaded = ParseRules(bad.yaml, "r.yaml");
  EXPECT_THAT(ToStatus(loaded.errors),
              StatusIs(absl::StatusCode::kInvalidArgument, bad.errors));
  EXPECT_EQ(loaded.hash, "");
}

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_RULES_BAD_FILE_H_
