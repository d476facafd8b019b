#ifndef TOLLGATE_SERVER_BASE_SNAPSHOT_H_
#define TOLLGATE_SERVER_BASE_SNAPSHOT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "server/base/mutex.h"

namespace tollgate {

// An immutable value that readers use without a lock and a writer replaces in
// one step. Each thread keeps a reference to the value it read last, so a
// reader pays one atomic load and touches no counter that other threads share;
// a replaced value lives until every thread that read it has read again or
// ended. Thread-safe.
template <typename T>
class Snapshot {
 public:
  explicit Snapshot(std::shared_ptr<const T> value) { Set(std::move(value)); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // The value in force. The reference holds until this thread calls Get() on
  // any Snapshot<T> again. `value` must not be null.
  const T& Get() const {
    thread_local Cached cached;
    if (cached.version != version_.load(std::memory_order_acquire)) {
      Refresh(cached);
    }
    return *cached.value;
  }

  // The value in force, for readers that must keep it.
  std::shared_ptr<const T> Share() const {
    MutexLock lock(mutex_);
    return value_;
  }

  void Set(std::shared_ptr<const T> value) {
    // Versions are unique in the process, so that a thread's cache can serve
    // any number of snapshots.
    static std::atomic<uint64_t> last_version{0};
    MutexLock lock(mutex_);
    value_.swap(value);
    version_.store(last_version.fetch_add(1, std::memory_order_relaxed) + 1,
                   std::memory_order_release);
  }

 private:
  struct Cached {
    uint64_t version = 0;
    std::shared_ptr<const T> value;
  };

  void Refresh(Cached& cached) const {
    std::shared_ptr<const T> old;  // destroyed after the lock is released
    MutexLock lock(mutex_);
    old = std::exchange(cached.value, value_);
    cached.version = version_.load(std::memory_order_relaxed);
  }

  mutable Mutex mutex_;
  std::shared_ptr<const T> value_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> version_{0};  // readers compare it without the lock
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_BASE_SNAPSHOT_H_
