#include "server/base/fd_thread.h"

#include <unistd.h>

#include <semaphore>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace tollgate {
namespace {

// The pauses below are an hour: a test that waits one out hits its time limit.
constexpr absl::Duration kLong = absl::Hours(1);

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends), 0); }
  ~Pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  int ends[2] = {-1, -1};
};

TEST(FdThread, RunsItsStepAtItsStartAndThenWheneverThereIsSomethingToRead) {
  Pipe pipe;
  std::counting_semaphore<> steps{0};
  std::counting_semaphore<> reads{0};
  char expected = 0;
  bool first = true;

  FdThread thread(pipe.ends[0], [&] {
    char c = 0;
    if (!first && ::read(pipe.ends[0], &c, 1) == 1 && c == expected + 1) {
      expected = c;
      reads.release();
    }
    first = false;
    steps.release();
    return kLong;
  });
  steps.acquire();

  for (char c = 1; c <= 3; ++c) {
    ASSERT_EQ(::write(pipe.ends[1], &c, 1), 1);
    reads.acquire();
  }
}

TEST(FdThread, RunsAgainWhenThePauseIsOver) {
  const Pipe pipe;
  std::counting_semaphore<> ran{0};

  FdThread thread(pipe.ends[0], [&] {
    ran.release();
    return absl::Milliseconds(1);
  });

  for (int i = 0; i < 5; ++i) ran.acquire();
}

TEST(FdThread, RunsAtOnceWhenWokenWithAndWithoutADescriptor) {
  const Pipe pipe;
  for (const int fd : {pipe.ends[0], -1}) {
    std::counting_semaphore<> ran{0};
    FdThread thread(fd, [&] {
      ran.release();
      return kLong;
    });
    ran.acquire();
    for (int i = 0; i < 3; ++i) {
      thread.Wake();
      ran.acquire();
    }
  }
}

TEST(FdThread, StopsWithoutWaitingOutAPause) {
  const Pipe pipe;
  std::binary_semaphore ran{0};
  FdThread thread(pipe.ends[0], [&] {
    ran.release();
    return absl::InfiniteDuration();
  });
  ran.acquire();
}

}  // namespace
}  // namespace tollgate
