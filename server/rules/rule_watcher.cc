#include "server/rules/rule_watcher.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/fd_thread.h"
#include "server/base/keyed_hash.h"
#include "server/rules/directory_watch.h"
#include "server/rules/rule_source.h"

namespace tollgate {
namespace {

namespace fs = std::filesystem;

// How often `patience_ns` a writer may pause before nobody waits for the end.
constexpr int64_t kWriterPauses = 6;

void Append(absl::string_view text, std::string& out) {
  absl::StrAppend(&out, text.size(), ":", text);
}

// Names what LoadRules would read, byte for byte, and why it could not.
Fingerprint ContentOf(const std::string& path) {
  const HashKey no_secret{};
  std::string content;
  const auto files = ListRuleFiles(path);
  if (!files.ok()) {
    Append(files.status().message(), content);
    return KeyedHash(no_secret, content);
  }
  for (const std::string& file : *files) {
    Append(file, content);
    const absl::StatusOr<std::string> text = ReadFileText(file);
    const Fingerprint hash =
        KeyedHash(no_secret, text.ok() ? absl::string_view(*text)
                                       : text.status().message());
    absl::StrAppend(&content, text.ok(), hash.hi, ":", hash.lo);
  }
  return KeyedHash(no_secret, content);
}

WatchedPlace PlaceOf(const fs::path& path) {
  return {path.parent_path().string(), path.filename().string()};
}

// Where a change of what `path` names would show.
std::vector<WatchedPlace> PlacesOf(const std::string& path) {
  std::error_code error;
  fs::path absolute = fs::absolute(path, error).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  std::vector<WatchedPlace> places = {PlaceOf(absolute)};
  if (fs::is_directory(absolute, error)) {
    places.push_back({absolute.string(), ""});
    return places;
  }
  // The directory may be what is replaced, and the file a link to another.
  places.push_back(PlaceOf(absolute.parent_path()));
  const fs::path target = fs::canonical(absolute, error);
  if (!error && target != absolute) places.push_back(PlaceOf(target));
  return places;
}

}  // namespace

// Lives on the watcher's thread once that has started.
struct RuleWatcher::State {
  State(RuleWatcherOptions given, const Clock& steady_clock)
      : options(std::move(given)), clock(steady_clock) {}

  absl::Duration Step();
  void Hear(int64_t now_ns);
  void Poll(int64_t now_ns);
  void Settle(int64_t now_ns);
  void SettleAt(int64_t at_ns) { settle_at_ns = at_ns; }
  [[nodiscard]] bool Writing(int64_t now_ns) const {
    return watch.someone_writes() &&
           now_ns - last_write_ns < kWriterPauses * patience_ns;
  }

  const RuleWatcherOptions options;
  const Clock& clock;
  const int64_t poll_ns = absl::ToInt64Nanoseconds(options.poll);
  const int64_t quiet_ns = absl::ToInt64Nanoseconds(options.quiet);
  // How long a place that is never quiet is waited for.
  const int64_t patience_ns = std::max(poll_ns, 10 * quiet_ns);
  OnChange on_change;
  DirectoryWatch watch;
  std::optional<Fingerprint> reported;  // the content last told of
  // Content found by polling, to be found again before it counts.
  std::optional<Fingerprint> candidate;
  std::optional<int64_t> settle_at_ns;  // when to load, if nothing happens
  int64_t restless_since_ns = 0;        // the first event of those waited out
  int64_t last_write_ns = 0;
  int64_t next_poll_ns = 0;
  bool must_tell = false;          // whatever the content
  std::atomic<bool> asked{false};  // by any thread
  std::optional<FdThread> thread;  // the first to go
};

void RuleWatcher::State::Hear(int64_t now_ns) {
  const DirectoryWatch::Events events = watch.Read();
  watch.Watch(PlacesOf(options.path));
  if (events.wrote) last_write_ns = now_ns;
  if (!events.changed && !(events.wrote && settle_at_ns.has_value())) return;
  if (!settle_at_ns.has_value()) restless_since_ns = now_ns;
  candidate.reset();
  SettleAt(std::min(now_ns + quiet_ns, restless_since_ns + patience_ns));
}

void RuleWatcher::State::Poll(int64_t now_ns) {
  next_poll_ns = now_ns + poll_ns;
  if (settle_at_ns.has_value() || Writing(now_ns)) return;
  const Fingerprint content = ContentOf(options.path);
  if (content == reported) return;
  candidate = content;
  restless_since_ns = now_ns;
  SettleAt(now_ns + quiet_ns);
}

void RuleWatcher::State::Settle(int64_t now_ns) {
  const Fingerprint before = ContentOf(options.path);
  if (candidate.has_value() && candidate != before) {
    candidate = before;
    return SettleAt(now_ns + quiet_ns);
  }
  candidate.reset();
  settle_at_ns.reset();
  if (before == reported && !must_tell) return;
  LoadedRules loaded = LoadRules(options.path, options.load);
  if (ContentOf(options.path) != before) return SettleAt(now_ns + quiet_ns);
  reported = before;
  must_tell = false;
  on_change(std::move(loaded));
}

absl::Duration RuleWatcher::State::Step() {
  const int64_t now_ns = clock.NowNs();
  Hear(now_ns);
  if (asked.exchange(false)) {
    must_tell = true;
    candidate.reset();
    Settle(now_ns);
  }
  if (now_ns >= next_poll_ns) Poll(now_ns);
  if (settle_at_ns.has_value() && now_ns >= *settle_at_ns) {
    if (Writing(now_ns)) {
      SettleAt(now_ns + std::max<int64_t>(quiet_ns, 1'000'000));
    } else {
      Settle(now_ns);
    }
  }
  const int64_t next_ns =
      std::min(next_poll_ns, settle_at_ns.value_or(next_poll_ns));
  return absl::Nanoseconds(next_ns - clock.NowNs());
}

RuleWatcher::RuleWatcher(RuleWatcherOptions options, const Clock& steady_clock)
    : state_(std::make_unique<State>(std::move(options), steady_clock)) {}

RuleWatcher::~RuleWatcher() = default;

LoadedRules RuleWatcher::Load() {
  state_->watch.Watch(PlacesOf(state_->options.path));
  // Before it is read: what changes meanwhile is found when the thread starts.
  state_->reported = ContentOf(state_->options.path);
  return LoadRules(state_->options.path, state_->options.load);
}

void RuleWatcher::Start(OnChange on_change) {
  state_->on_change = std::move(on_change);
  state_->thread.emplace(state_->watch.fd(),
                         [state = state_.get()] { return state->Step(); });
}

void RuleWatcher::Reload() {
  state_->asked = true;
  state_->thread->Wake();
}

bool RuleWatcher::is_told() const { return state_->watch.fd() >= 0; }

}  // namespace tollgate
