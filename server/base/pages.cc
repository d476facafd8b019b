#include "server/base/pages.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace tollgate {
namespace {

// From here on a last page that is partly unused is at most a quarter of it.
constexpr size_t kFewest = size_t{12} * 1024;

}  // namespace

void* AllocateZeroed(size_t bytes) {
  if (bytes < kFewest) {
    void* const memory = ::operator new(bytes);
    std::memset(memory, 0, bytes);
    return memory;
  }
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

void FreeZeroed(void* memory, size_t bytes) {
  if (memory == nullptr) return;
  if (bytes < kFewest) {
    ::operator delete(memory);
  } else {
    ::munmap(memory, bytes);
  }
}

}  // namespace tollgate
