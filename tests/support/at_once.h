#ifndef TOLLGATE_TESTS_SUPPORT_AT_ONCE_H_
#define TOLLGATE_TESTS_SUPPORT_AT_ONCE_H_

#include <optional>
#include <utility>

#include "gtest/gtest.h"

namespace tollgate {

// What `call(done)` tells `done`, which it must do once, before it returns.
template <typename T, typename Call>
T AtOnce(Call call) {
  std::optional<T> told;
  call([&told](T value) {
    EXPECT_FALSE(told.has_value()) << "told twice";
    told.emplace(std::move(value));
  });
  EXPECT_TRUE(told.has_value()) << "not told before the call returned";
  return *std::move(told);
}

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_SUPPORT_AT_ONCE_H_
