#include "server/state/state_keeper.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/periodic_thread.h"
#include "server/state/atomic_file.h"
#include "server/state/state_transfer.h"
#include "spdlog/spdlog.h"

namespace tollgate::state {
namespace {

// A file descriptor, closed with it; -1 is none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  [[nodiscard]] int get() const { return fd_; }

  // Reads at `offset`; see Source.
  size_t ReadAt(uint64_t offset, char* out, size_t size) const {
    size_t done = 0;
    while (done < size) {
      const ssize_t n = pread(fd_, out + done, size - done,
                              static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      done += static_cast<size_t>(n);
    }
    return done;
  }

 private:
  int fd_ = -1;
};

// FAILED_PRECONDITION if another process holds the lock; where it cannot be
// had for another reason, that is logged, and nothing is locked.
absl::StatusOr<Descriptor> LockFor(const std::string& path) {
  const std::string lock = path + ".lock";
  Descriptor file(open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  absl::Status status;
  if (file.get() < 0) {
    status = SystemError(absl::StrCat("create \"", lock, "\""));
  } else if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return absl::FailedPreconditionError(absl::StrCat(
          "--state-file: got \"", path,
          "\", which another process uses, want a file of its own for each"));
    }
    status = SystemError(absl::StrCat("lock \"", lock, "\""));
  }
  if (!status.ok()) {
    spdlog::warn("state file {}: {}; it will hardly be saved", path,
                 std::string(status.message()));
  }
  return file;
}

// The file if it is there and a regular one.
absl::StatusOr<Descriptor> OpenFile(const std::string& path) {
  // Not to wait for whoever would write into a pipe.
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    if (errno == ENOENT) return absl::NotFoundError("there is none yet");
    return SystemError("open it");
  }
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0) return SystemError("look at it");
  if (!S_ISREG(facts.st_mode)) {
    return absl::InvalidArgumentError("it is no regular file");
  }
  if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    spdlog::warn(
        "state file {}: others may use it, and it holds a secret; want mode "
        "600, which the next save sets",
        path);
  }
  return file;
}

// Says why the file is not used, and keeps it where no save replaces it.
void SetAside(const std::string& path, const absl::Status& status) {
  const std::string reason(status.message());
  struct stat facts {};
  const std::string aside = path + ".bad";
  if (lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
      std::rename(path.c_str(), aside.c_str()) == 0) {
    spdlog::warn(
        "state file {}: {}; every bucket starts full, and the file is kept as "
        "{}",
        path, reason, aside);
    return;
  }
  spdlog::warn("state file {}: {}; every bucket starts full", path, reason);
}

// What a file had that could not be restored.
std::string Losses(const RestoreReport& report) {
  std::string text;
  const auto add = [&text](uint64_t count, const char* what) {
    if (count > 0) {
      absl::StrAppend(&text, text.empty() ? "" : ", ", count, what);
    }
  };
  add(report.other_rules, " buckets for other rules");
  add(report.invalid, " buckets that no rule can have");
  add(report.no_room, " buckets that --max-buckets has no room for");
  add(report.bad_blocks, " damaged blocks");
  if (!report.complete) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", "its end is missing");
  }
  return text;
}

}  // namespace

struct StateKeeper::Shared {
  const StateKeeperOptions options;
  Descriptor lock;
  Descriptor file;  // open until it is restored
  Header header;

  Limiter* limiter = nullptr;
  const Clock* clock = nullptr;
  StateObserver* observer = nullptr;
  std::unique_ptr<PeriodicThread> saver;

  void Restore();
  absl::StatusOr<uint64_t> Write() const;
  // Whether it was saved. One at a time.
  bool Save() const;
};

void StateKeeper::Shared::Restore() {
  const auto source = [this](uint64_t offset, char* out, size_t size) {
    return file.ReadAt(offset, out, size);
  };
  const RestoreReport report = RestoreState(source, *limiter);
  file = Descriptor();
  observer->OnRestored(report.restored);
  const double age_s =
      static_cast<double>(clock->NowNs() - header.saved_at_ns) / 1e9;
  spdlog::info(
      "restored {} buckets of {} rules saved {:.1f} seconds ago from {}; {} "
      "are full again",
      report.restored, report.rules, age_s, options.path, report.full);
  if (age_s < 0) {
    spdlog::warn(
        "state file {}: it was saved in what is the future now; the time since "
        "does not count as refill",
        options.path);
  }
  const std::string losses = Losses(report);
  if (!losses.empty()) {
    spdlog::warn("state file {}: not restored: {}", options.path, losses);
  }
}

absl::StatusOr<uint64_t> StateKeeper::Shared::Write() const {
  auto created = AtomicFile::Create(options.path);
  if (!created.ok()) return created.status();
  AtomicFile& out = **created;
  absl::StatusOr<uint64_t> count =
      WriteState(*limiter, *clock, header.key,
                 [&out](absl::string_view bytes) { return out.Write(bytes); });
  if (!count.ok()) return count.status();
  const absl::Status status = out.Commit();
  if (!status.ok()) return status;
  return count;
}

bool StateKeeper::Shared::Save() const {
  const int64_t at_ns = clock->NowNs();
  const absl::StatusOr<uint64_t> count = Write();
  if (!count.ok()) {
    observer->OnSaveFailed();
    spdlog::warn("state file {}: not saved: {}", options.path,
                 std::string(count.status().message()));
    return false;
  }
  observer->OnSaved(at_ns);
  spdlog::debug("saved {} buckets to {}", *count, options.path);
  return true;
}

StateKeeper::StateKeeper(std::unique_ptr<Shared> shared)
    : shared_(std::move(shared)) {}

StateKeeper::~StateKeeper() = default;

absl::StatusOr<std::unique_ptr<StateKeeper>> StateKeeper::Open(
    StateKeeperOptions options) {
  auto shared = std::make_unique<Shared>(Shared{std::move(options)});
  const std::string& path = shared->options.path;
  absl::StatusOr<Descriptor> lock = LockFor(path);
  if (!lock.ok()) return lock.status();
  shared->lock = *std::move(lock);
  shared->header.key = RandomHashKey();
  absl::StatusOr<Descriptor> file = OpenFile(path);
  absl::Status status = file.status();
  if (status.ok()) {
    const absl::StatusOr<Header> header =
        ReadHeader([&file](uint64_t offset, char* out, size_t size) {
          return file->ReadAt(offset, out, size);
        });
    status = header.status();
    if (status.ok()) {
      shared->header = *header;
      shared->file = *std::move(file);
    }
  }
  if (absl::IsNotFound(status)) {
    spdlog::info("state file {}: {}; every bucket starts full", path,
                 std::string(status.message()));
  } else if (!status.ok()) {
    SetAside(path, status);
  }
  return std::unique_ptr<StateKeeper>(new StateKeeper(std::move(shared)));
}

const HashKey& StateKeeper::hash_key() const { return shared_->header.key; }

void StateKeeper::Start(Limiter& limiter, const Clock& clock,
                        StateObserver& observer) {
  Shared* const shared = shared_.get();
  shared->limiter = &limiter;
  shared->clock = &clock;
  shared->observer = &observer;
  if (shared->file.get() >= 0) shared->Restore();
  bool is_first = true;
  shared->saver =
      std::make_unique<PeriodicThread>([shared, is_first]() mutable {
        if (!std::exchange(is_first, false)) shared->Save();
        return shared->options.interval;
      });
}

void StateKeeper::Finish() {
  shared_->saver.reset();  // after the save in progress
  if (shared_->Save()) {
    spdlog::info("saved the state to {}", shared_->options.path);
  }
}

}  // namespace tollgate::state
