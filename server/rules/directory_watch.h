#ifndef TOLLGATE_SERVER_RULES_DIRECTORY_WATCH_H_
#define TOLLGATE_SERVER_RULES_DIRECTORY_WATCH_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tollgate {

// Where something may change: a name in a directory, or any rule file of it if
// `name` is empty. Names that begin with ".." count everywhere: so Kubernetes
// calls what it swaps under a mounted ConfigMap.
struct WatchedPlace {
  std::string directory;
  std::string name;
};

// Hears from the kernel (inotify) what happens in directories. It listens to
// directories and never to files, because whoever replaces a file leaves a
// listener of the old one deaf. Thread-compatible.
class DirectoryWatch {
 public:
  DirectoryWatch();
  ~DirectoryWatch();
  DirectoryWatch(const DirectoryWatch&) = delete;
  DirectoryWatch& operator=(const DirectoryWatch&) = delete;

  // Readable when there is something to Read; -1 if the kernel has none left.
  [[nodiscard]] int fd() const { return fd_; }

  // Listens at these places alone. A directory that is not there is left out,
  // and one that another has replaced is let go: call it again and again.
  void Watch(absl::Span<const WatchedPlace> places);

  struct Events {
    bool changed = false;  // something is new, gone, or written to its end
    bool wrote = false;    // somebody writes, and is not at the end
  };
  // What has happened since the last call. Does not wait.
  Events Read();

  // Whether somebody has a file open to which they have written.
  [[nodiscard]] bool someone_writes() const { return !written_.empty(); }

 private:
  void Take(int watch, uint32_t mask, absl::string_view name, Events& events);

  const int fd_;
  std::map<int, std::vector<std::string>> names_;  // by watch
  std::set<std::pair<int, std::string>> written_;  // and not yet closed
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_DIRECTORY_WATCH_H_
