#ifndef TOLLGATE_SERVER_RULES_RULE_WATCHER_H_
#define TOLLGATE_SERVER_RULES_RULE_WATCHER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/rules/rule_file.h"

namespace tollgate {

struct RuleWatcherOptions {
  // A rule file or a directory of them, as LoadRules takes it. It need not be
  // there all the time.
  std::string path;
  // How Envoy-format files are read.
  LoadOptions load = {};
  // How often it is read without being told of a change: file systems of other
  // machines tell nothing. 1 ms or more.
  absl::Duration poll = absl::Seconds(10);
  // How long it must have been quiet before it is loaded, so that somebody who
  // writes several files, or one in several steps, is done. 0 or more.
  absl::Duration quiet = absl::Milliseconds(100);
};

// Loads rules again when their files have changed. Copes with files written in
// place and slowly, files and directories that are renamed over, removed and
// put back, and with the links that Kubernetes swaps under a mounted ConfigMap.
// A file that somebody has open and has written to is left alone until they
// close it. Only other bytes (or another error) count as a change. Thread-safe,
// but for Load and Start.
class RuleWatcher {
 public:
  using OnChange = std::function<void(LoadedRules)>;

  // `steady_clock` must outlive the watcher.
  RuleWatcher(RuleWatcherOptions options, const Clock& steady_clock);
  // Ends after the call of `on_change` in progress.
  ~RuleWatcher();
  RuleWatcher(const RuleWatcher&) = delete;
  RuleWatcher& operator=(const RuleWatcher&) = delete;

  // The rules as they are; changes are counted from here. Before Start.
  [[nodiscard]] LoadedRules Load();

  // Watches from now on. `on_change` gets what was loaded, with its errors, on
  // the watcher's thread. Once.
  void Start(OnChange on_change);

  // Loads now and tells of it, changed or not. After Start.
  void Reload();

  // Whether the kernel tells of changes; if not, polling finds them.
  [[nodiscard]] bool is_told() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_RULE_WATCHER_H_
