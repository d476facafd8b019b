#ifndef TOLLGATE_SERVER_STATE_STATE_KEEPER_H_
#define TOLLGATE_SERVER_STATE_STATE_KEEPER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/base/keyed_hash.h"
#include "server/limiter/limiter.h"

namespace tollgate::state {

// Told of what the keeper does. Thread-safe.
class StateObserver {
 public:
  virtual ~StateObserver() = default;
  virtual void OnRestored(uint64_t buckets) = 0;
  virtual void OnSaved(int64_t at_ns) = 0;
  virtual void OnSaveFailed() = 0;
};

struct StateKeeperOptions {
  // The state file. Beside it are `path`.lock, held while the process lives,
  // `path`.tmp during a save, and `path`.bad, a file that could not be used.
  std::string path;
  // From the end of one save to the start of the next. A crash loses what was
  // spent since.
  absl::Duration interval = absl::Seconds(60);
};

// The life of one state file in one process: open it, restore it, save it again
// and again, save it once more. What is wrong with the file, or with writing
// it, is logged, and never in the way of serving. Thread-compatible; saves run
// on a thread of its own.
class StateKeeper {
 public:
  // Locks the file and reads its key. FAILED_PRECONDITION if another process
  // has it. A file that cannot be used at all is renamed to `path`.bad.
  static absl::StatusOr<std::unique_ptr<StateKeeper>> Open(
      StateKeeperOptions options);
  ~StateKeeper();
  StateKeeper(const StateKeeper&) = delete;
  StateKeeper& operator=(const StateKeeper&) = delete;

  // The key for the limiter: the file's, or else a new one.
  [[nodiscard]] const HashKey& hash_key() const;

  // Restores what the file has of the rules in force, and begins to save. Once,
  // before the first decision. All must outlive the keeper; `clock` is the
  // limiter's.
  void Start(Limiter& limiter, const Clock& clock, StateObserver& observer);

  // Saves a last time, exactly if nothing is decided any more. Once, after
  // Start.
  void Finish();

 private:
  struct Shared;
  explicit StateKeeper(std::unique_ptr<Shared> shared);
  const std::unique_ptr<Shared> shared_;
};

}  // namespace tollgate::state

#endif  // TOLLGATE_SERVER_STATE_STATE_KEEPER_H_
