#include <array>

#include "server/limiter/algorithm.h"
#include "server/limiter/concurrency.h"
#include "server/limiter/fixed_window.h"
#include "server/limiter/leaky_bucket.h"
#include "server/limiter/sliding_log.h"
#include "server/limiter/sliding_window.h"
#include "server/limiter/token_bucket.h"

namespace tollgate {
namespace {

// Every algorithm there is. A new one is added here and nowhere else.
std::array<const Algorithm*, 6> All() {
  return {&TokenBucket(), &FixedWindow(), &SlidingWindow(),
          &SlidingLog(),  &LeakyBucket(), &Concurrency()};
}

}  // namespace

const Algorithm* FindAlgorithm(absl::string_view name) {
  for (const Algorithm* algorithm : All()) {
    if (algorithm->name() == name) return algorithm;
  }
  return nullptr;
}

std::vector<absl::string_view> AlgorithmNames() {
  std::vector<absl::string_view> names;
  for (const Algorithm* algorithm : All()) names.push_back(algorithm->name());
  return names;
}

}  // namespace tollgate
