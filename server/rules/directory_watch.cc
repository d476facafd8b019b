#include "server/rules/directory_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "absl/strings/match.h"
#include "server/rules/rule_source.h"

namespace tollgate {
namespace {

constexpr uint32_t kGone = IN_MOVED_FROM | IN_DELETE;
constexpr uint32_t kChanged = IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE |
                              IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | kGone;

bool Matters(absl::string_view event, const std::string& name) {
  if (absl::StartsWith(event, "..")) return true;
  return name.empty() ? IsRuleFileName(event) : event == name;
}

}  // namespace

DirectoryWatch::DirectoryWatch()
    : fd_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}

DirectoryWatch::~DirectoryWatch() {
  if (fd_ >= 0) close(fd_);
}

void DirectoryWatch::Watch(absl::Span<const WatchedPlace> places) {
  if (fd_ < 0) return;
  std::map<int, std::vector<std::string>> names;
  for (const WatchedPlace& place : places) {
    // The same number for a directory that is watched already.
    const int watch = inotify_add_watch(fd_, place.directory.c_str(),
                                        kChanged | IN_MODIFY | IN_ONLYDIR);
    if (watch >= 0) names[watch].push_back(place.name);
  }
  for (const auto& [watch, unused] : names_) {
    if (names.count(watch) == 0) inotify_rm_watch(fd_, watch);
  }
  names_ = std::move(names);
}

DirectoryWatch::Events DirectoryWatch::Read() {
  Events events;
  if (fd_ < 0) return events;
  alignas(inotify_event) std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t n = read(fd_, buffer.data(), buffer.size());
    if (n <= 0) return events;
    for (ssize_t at = 0; at < n;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof(event));
      const char* const name = buffer.data() + at + sizeof(event);
      Take(event.wd, event.mask,
           event.len > 0 ? absl::string_view(name) : absl::string_view(),
           events);
      at += static_cast<ssize_t>(sizeof(event) + event.len);
    }
  }
}

void DirectoryWatch::Take(int watch, uint32_t mask, absl::string_view name,
                          Events& events) {
  if ((mask & IN_Q_OVERFLOW) != 0) {
    written_.clear();  // whoever closed may be among what was lost
    events.changed = true;
    return;
  }
  // Of the directory itself, or the last that comes from it.
  if (name.empty()) {
    events.changed = events.changed || (mask & kChanged) != 0;
    if ((mask & IN_IGNORED) != 0) {
      names_.erase(watch);
      std::erase_if(written_, [&](const auto& w) { return w.first == watch; });
    }
    return;
  }
  const auto names = names_.find(watch);
  if (names == names_.end() ||
      std::none_of(names->second.begin(), names->second.end(),
                   [&](const std::string& n) { return Matters(name, n); })) {
    return;
  }
  if ((mask & IN_MODIFY) != 0) {
    written_.emplace(watch, name);
    events.wrote = true;
  }
  if ((mask & (IN_CLOSE_WRITE | kGone)) != 0) {
    written_.erase({watch, std::string(name)});
  }
  events.changed = events.changed || (mask & kChanged) != 0;
}

}  // namespace tollgate
