#include "tests/support/allocation_counter.h"

#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TOLLGATE_SANITIZED_ALLOCATOR
#endif
#endif

namespace tollgate {
namespace {

thread_local uint64_t allocations = 0;

}  // namespace

uint64_t AllocationsOfThisThread() { return allocations; }

}  // namespace tollgate

#ifdef TOLLGATE_SANITIZED_ALLOCATOR
// A sanitizer brings an operator new of its own, and a hook.
#include <sanitizer/allocator_interface.h>

namespace tollgate {
namespace {

const bool hooked = __sanitizer_install_malloc_and_free_hooks(
                        [](const volatile void*, size_t) { ++allocations; },
                        [](const volatile void*) {}) != 0;

}  // namespace
}  // namespace tollgate
#else

namespace tollgate {
namespace {

void* Allocate(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* const memory =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(size == 0 ? 1 : size)
          : std::aligned_alloc(alignment,
                               (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace
}  // namespace tollgate

// The array and nothrow forms of the standard library call these.
void* operator new(std::size_t size) { return tollgate::Allocate(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return tollgate::Allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
#endif
