// Writes tests/golden/buckets.txt to standard output: what the algorithms of
// server/limiter do to single buckets, for the Lua script to do the same. Run
// it again only if an algorithm is meant to say something else:
//   build/release/bin/make_golden_buckets > tests/golden/buckets.txt
#include <iostream>
#include <random>

#include "tests/redis/golden_case.h"

int main() {
  std::cout << "# Made by tests/golden/make_buckets.cc. Fields: algorithm;\n"
               "# limit (tokens/period ns/burst/hold ns); state before; now "
               "in ns;\n"
               "# take or refund; cost; reserved; ticket; taken at (refund); "
               "mark;\n"
               "# state after. Marks: t taken, r refused, b blocked by a "
               "penalty.\n";
  std::mt19937_64 random(7);
  constexpr int kWalks = 160;
  constexpr int kSteps = 15;
  for (int i = 0; i < kWalks; ++i) {
    for (const auto& c : tollgate::redis::RandomCases(random, kSteps)) {
      std::cout << LineOf(c, OutcomeOf(c)) << "\n";
    }
  }
  return 0;
}
