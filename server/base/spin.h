#ifndef TOLLGATE_SERVER_BASE_SPIN_H_
#define TOLLGATE_SERVER_BASE_SPIN_H_

namespace tollgate {

// Tries again and again, for a microsecond or two, until `attempt` says true;
// whether it did. What others hold for less than that is had sooner so than by
// going to sleep, which costs two system calls and a switch of threads.
template <typename Attempt>
bool SpinUntil(const Attempt& attempt) {
  constexpr int kAttempts = 64;
  for (int i = 0; i < kAttempts; ++i) {
    if (attempt()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
  return false;
}

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_BASE_SPIN_H_
