#include "server/base/pages.h"

#include <cstdint>
#include <new>

#include "gtest/gtest.h"

namespace tollgate {
namespace {

TEST(Pages, AreZeroAlignedAndWritableWhateverTheirSize) {
  for (const size_t bytes :
       {size_t{1}, size_t{384}, size_t{12 * 1024 - 1}, size_t{12 * 1024},
        size_t{12 * 1024 + 1}, size_t{100'000'000}}) {
    auto* const memory = static_cast<unsigned char*>(AllocateZeroed(bytes));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 16, 0u) << bytes;
    for (const size_t at : {size_t{0}, bytes / 2, bytes - 1}) {
      EXPECT_EQ(memory[at], 0) << bytes;
    }
    for (const size_t at : {size_t{0}, bytes / 2, bytes - 1}) memory[at] = 1;
    FreeZeroed(memory, bytes);
  }
}

TEST(Pages, AreZeroAlsoWhereOthersLay) {
  for (const size_t bytes : {size_t{64}, size_t{64 * 1024}}) {
    for (int i = 0; i < 100; ++i) {
      auto* const memory = static_cast<unsigned char*>(AllocateZeroed(bytes));
      EXPECT_EQ(memory[bytes - 1], 0);
      memory[bytes - 1] = 0xFF;
      FreeZeroed(memory, bytes);
    }
  }
}

TEST(Pages, ThrowAsNewDoesWhereThereIsNoMemory) {
  EXPECT_THROW((void)AllocateZeroed(size_t{1} << 62), std::bad_alloc);
}

TEST(Pages, GiveNothingBackForNull) { FreeZeroed(nullptr, 5); }

}  // namespace
}  // namespace tollgate
