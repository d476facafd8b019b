#include "server/base/periodic_thread.h"

#include <atomic>
#include <memory>
#include <semaphore>
#include <thread>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace tollgate {
namespace {

// The pauses below are an hour: a test that waits one out hits its time limit.
constexpr absl::Duration kLong = absl::Hours(1);

TEST(PeriodicThread, RunsItsStepOnAnotherThread) {
  std::binary_semaphore ran{0};
  std::thread::id runner;

  PeriodicThread thread([&] {
    runner = std::this_thread::get_id();
    ran.release();
    return kLong;
  });
  ran.acquire();

  EXPECT_NE(runner, std::this_thread::get_id());
}

TEST(PeriodicThread, RunsAgainAndAgain) {
  std::counting_semaphore<> ran{0};

  PeriodicThread thread([&] {
    ran.release();
    return absl::Milliseconds(1);
  });

  for (int i = 0; i < 5; ++i) ran.acquire();
}

TEST(PeriodicThread, RunsAgainAtOnceAfterAPauseOfZeroOrLess) {
  std::counting_semaphore<> ran{0};
  std::atomic<int> steps{0};

  PeriodicThread thread([&] {
    ran.release();
    return ++steps % 2 == 0 ? absl::ZeroDuration() : -kLong;
  });

  for (int i = 0; i < 100; ++i) ran.acquire();
}

TEST(PeriodicThread, WakeEndsThePause) {
  std::counting_semaphore<> ran{0};
  PeriodicThread thread([&] {
    ran.release();
    return kLong;
  });
  ran.acquire();

  for (int i = 0; i < 10; ++i) {
    thread.Wake();
    ran.acquire();
  }
}

TEST(PeriodicThread, AWakeDuringTheStepIsNotLost) {
  std::binary_semaphore in_step{0};
  std::binary_semaphore go_on{0};
  std::counting_semaphore<> ran{0};
  PeriodicThread thread([&, first = true]() mutable {
    if (first) {
      first = false;
      in_step.release();
      go_on.acquire();
    }
    ran.release();
    return kLong;
  });

  in_step.acquire();
  thread.Wake();
  go_on.release();

  ran.acquire();
  ran.acquire();  // the wake's own step
}

TEST(PeriodicThread, StopsAtOnceWithoutWaitingOutAPause) {
  std::binary_semaphore ran{0};
  auto thread = std::make_unique<PeriodicThread>([&] {
    ran.release();
    return kLong;
  });
  ran.acquire();

  thread.reset();
}

TEST(PeriodicThread, StopsOnlyAfterTheStepInProgress) {
  std::binary_semaphore in_step{0};
  std::atomic<bool> finished{false};
  auto thread = std::make_unique<PeriodicThread>([&] {
    in_step.release();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    finished = true;
    return kLong;
  });
  in_step.acquire();

  thread.reset();

  EXPECT_TRUE(finished);
}

TEST(PeriodicThread, AnInfinitePauseCanBeWokenAndStopped) {
  std::counting_semaphore<> ran{0};
  PeriodicThread thread([&] {
    ran.release();
    return absl::InfiniteDuration();
  });
  ran.acquire();

  thread.Wake();
  ran.acquire();
}

}  // namespace
}  // namespace tollgate
