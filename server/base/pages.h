#ifndef TOLLGATE_SERVER_BASE_PAGES_H_
#define TOLLGATE_SERVER_BASE_PAGES_H_

#include <cstddef>

namespace tollgate {

// Memory for large arrays that come and go by themselves: whole pages straight
// from the system, where that wastes little. Freeing them costs what they are,
// whatever else is freed. The general allocator keeps what it is given until
// the end of its heap is free, and then gives hundreds of megabytes back in one
// call, for tens of milliseconds, under a lock that every thread may need.
// Thread-safe.

// `bytes` of zeroes, aligned for anything up to 16 bytes. Throws what operator
// new throws, where there is no memory.
[[nodiscard]] void* AllocateZeroed(size_t bytes);

// Gives back what AllocateZeroed(bytes) returned; null is nothing.
void FreeZeroed(void* memory, size_t bytes);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_BASE_PAGES_H_
