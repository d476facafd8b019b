#include "server/state/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tollgate::state {
namespace {

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

absl::Status SystemError(absl::string_view what) {
  return absl::UnavailableError(
      absl::StrCat("could not ", what, ": ",
                   std::error_code(errno, std::generic_category()).message()));
}

absl::StatusOr<std::unique_ptr<AtomicFile>> AtomicFile::Create(
    std::string path) {
  std::string temporary = path + ".tmp";
  unlink(temporary.c_str());
  // Made anew, so that no link and no lax mode of an old one is taken over.
  const int fd =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return SystemError(absl::StrCat("create \"", temporary, "\""));
  return std::unique_ptr<AtomicFile>(
      new AtomicFile(std::move(path), std::move(temporary), fd));
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) close(fd_);
  if (!committed_) unlink(temporary_.c_str());
}

absl::Status AtomicFile::Write(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return SystemError(absl::StrCat("write \"", temporary_, "\""));
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::Commit() {
  if (fsync(fd_) != 0) {
    return SystemError(absl::StrCat("flush \"", temporary_, "\""));
  }
  if (close(std::exchange(fd_, -1)) != 0) {
    return SystemError(absl::StrCat("close \"", temporary_, "\""));
  }
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return SystemError(absl::StrCat("replace \"", path_, "\""));
  }
  committed_ = true;
  // The name must outlive a crash too.
  const std::string directory = DirectoryOf(path_);
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool flushed = fd >= 0 && fsync(fd) == 0;
  absl::Status status;
  if (!flushed) status = SystemError(absl::StrCat("flush \"", directory, "\""));
  if (fd >= 0) close(fd);
  return status;
}

}  // namespace tollgate::state
