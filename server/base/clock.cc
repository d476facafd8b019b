#include "server/base/clock.h"

#include <chrono>

namespace tollgate {
namespace {

int64_t SteadyNs() {
  return std::chrono::nanoseconds(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int64_t WallNs() {
  return std::chrono::nanoseconds(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

SystemClock::SystemClock() : offset_ns_(WallNs() - SteadyNs()) {}

int64_t SystemClock::NowNs() const { return SteadyNs() + offset_ns_; }

}  // namespace tollgate
