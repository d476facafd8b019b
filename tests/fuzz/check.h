#ifndef TOLLGATE_TESTS_FUZZ_CHECK_H_
#define TOLLGATE_TESTS_FUZZ_CHECK_H_

#include <cstdio>
#include <cstdlib>

namespace tollgate {

// Ends the process, so that a fuzzer keeps the input, unless `holds`.
inline void Check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: does not hold: %s\n", what);
  std::abort();
}

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_FUZZ_CHECK_H_
