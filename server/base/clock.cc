#include "server/base/clock.h"

#include <ctime>

namespace tollgate {
namespace {

int64_t ReadNs(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

SystemClock::SystemClock()
    : offset_ns_(ReadNs(CLOCK_REALTIME) - ReadNs(CLOCK_MONOTONIC)) {}

int64_t SystemClock::NowNs() const {
  return ReadNs(CLOCK_MONOTONIC) + offset_ns_;
}

int64_t SteadyClock::NowNs() const { return ReadNs(CLOCK_MONOTONIC); }

}  // namespace tollgate
