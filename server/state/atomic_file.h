#ifndef TOLLGATE_SERVER_STATE_ATOMIC_FILE_H_
#define TOLLGATE_SERVER_STATE_ATOMIC_FILE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tollgate::state {

// A file that takes another's place in one step, once all of it is on the disk:
// whoever opens `path`, also after a crash, finds the old file or the new one.
// It is written beside it as `path`.tmp, mode 0600, and one process at a time
// may do so. Errors are UNAVAILABLE: what was tried, and the system's reason.
// Thread-compatible.
class AtomicFile {
 public:
  // Begins it; a temporary file that a crash left is replaced.
  static absl::StatusOr<std::unique_ptr<AtomicFile>> Create(std::string path);
  // Removes what was written, unless it was committed.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  absl::Status Write(absl::string_view bytes);
  // Once, at the end.
  absl::Status Commit();

 private:
  AtomicFile(std::string path, std::string temporary, int fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}

  const std::string path_;
  const std::string temporary_;
  int fd_;
  bool committed_ = false;
};

// "could not `what`: No space left on device", of errno as it is.
[[nodiscard]] absl::Status SystemError(absl::string_view what);

}  // namespace tollgate::state

#endif  // TOLLGATE_SERVER_STATE_ATOMIC_FILE_H_
