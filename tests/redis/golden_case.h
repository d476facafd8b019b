#ifndef TOLLGATE_TESTS_REDIS_GOLDEN_CASE_H_
#define TOLLGATE_TESTS_REDIS_GOLDEN_CASE_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/limiter/algorithm.h"
#include "server/limiter/limit.h"

namespace tollgate::redis {

// One thing done to one bucket: a line of tests/golden/buckets.txt.
struct GoldenCase {
  const Algorithm* algorithm = nullptr;
  Limit limit;
  std::string state;  // before, as state_text.h writes it; "" untouched
  int64_t now_ns = 0;
  bool refunds = false;  // else takes
  Ask ask;
  int64_t taken_at_ns = 0;  // of a refund
};

// What became of it.
struct GoldenOutcome {
  char mark = '-';    // 't' taken, 'r' refused, 'b' blocked, '-' refunded
  std::string state;  // after

  friend bool operator==(const GoldenOutcome&, const GoldenOutcome&) = default;
};

// By the algorithms of server/limiter.
[[nodiscard]] GoldenOutcome OutcomeOf(const GoldenCase& c);

// A state as this side would write it, so that states can be compared.
[[nodiscard]] std::string Canonical(const GoldenCase& c,
                                    absl::string_view state);

// A line without its newline, and back; a bad line fails the test.
[[nodiscard]] std::string LineOf(const GoldenCase& c, const GoldenOutcome& o);
void ParseLine(const std::string& line, GoldenCase& c, GoldenOutcome& o);

// `steps` things done to one bucket after the other, under limits and at
// instants that are often extreme.
[[nodiscard]] std::vector<GoldenCase> RandomCases(std::mt19937_64& random,
                                                  int steps);

}  // namespace tollgate::redis

#endif  // TOLLGATE_TESTS_REDIS_GOLDEN_CASE_H_
