#ifndef TOLLGATE_TESTS_SUPPORT_ALLOCATION_COUNTER_H_
#define TOLLGATE_TESTS_SUPPORT_ALLOCATION_COUNTER_H_

#include <cstdint>

namespace tollgate {

// Allocations made by this thread so far. Linking allocation_counter.cc
// replaces operator new, so a binary must ask for it.
uint64_t AllocationsOfThisThread();

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_SUPPORT_ALLOCATION_COUNTER_H_
