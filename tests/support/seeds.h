#ifndef TOLLGATE_TESTS_SUPPORT_SEEDS_H_
#define TOLLGATE_TESTS_SUPPORT_SEEDS_H_

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace tollgate {

// As a parameter of a property test: a seed that is new each time.
inline constexpr uint32_t kNewSeed = 0;

// The seed of one run: `fixed`, or for kNewSeed what TOLLGATE_SEED in the
// environment says, or else a random one, which is printed.
inline uint32_t SeedOf(uint32_t fixed) {
  if (fixed != kNewSeed) return fixed;
  const char* const given = std::getenv("TOLLGATE_SEED");
  const uint32_t seed = given != nullptr
                            ? static_cast<uint32_t>(std::stoul(given))
                            : std::random_device()();
  std::cout << "to run this again: TOLLGATE_SEED=" << seed << "\n";
  return seed;
}

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_SUPPORT_SEEDS_H_
