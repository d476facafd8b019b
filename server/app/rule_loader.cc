#include "server/app/rule_loader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/limiter/rule_set.h"
#include "spdlog/spdlog.h"

namespace tollgate {
namespace {

std::string RulesText(const RulesInForce& in_force) {
  return absl::StrCat(in_force.rules->size(), " rules (hash ", in_force.hash,
                      ")");
}

}  // namespace

absl::Status RuleLoader::Apply(LoadedRules loaded) {
  if (!loaded.errors.empty()) return ToStatus(loaded.errors);
  if (check_ != nullptr) {
    absl::Status status = check_(loaded.rules);
    if (!status.ok()) return status;
  }
  absl::StatusOr<RuleSet> rules = RuleSet::Create(std::move(loaded.rules));
  if (!rules.ok()) return rules.status();
  absl::Status status = limiter_.SetRules(*std::move(rules));
  if (!status.ok()) return status;
  metrics_.SetRulesHash(loaded.hash);
  const int64_t now_ns = wall_clock_.NowNs();
  metrics_.SetLastReload(ReloadResult::kSuccess, now_ns);
  RulesInForce in_force{std::move(loaded.hash), limiter_.rules()};
  MutexLock lock(mutex_);
  std::swap(in_force_, in_force);  // the old ones die after the lock
  failure_.clear();
  loaded_at_ns_ = now_ns;
  return absl::OkStatus();
}

absl::Status RuleLoader::Start(LoadedRules loaded) {
  return Apply(std::move(loaded));
}

void RuleLoader::Reload(LoadedRules loaded) {
  const absl::Status status = Apply(std::move(loaded));
  if (!status.ok()) return Fail(status);
  metrics_.CountReloadSuccess();
  spdlog::info("reloaded: {}", RulesText(in_force()));
}

void RuleLoader::Fail(const absl::Status& status) {
  metrics_.CountReloadFailure();
  const int64_t now_ns = wall_clock_.NowNs();
  metrics_.SetLastReload(ReloadResult::kFailure, now_ns);
  std::string failure(status.message());
  bool is_new = false;
  {
    MutexLock lock(mutex_);
    is_new = failure_ != failure;
    failure_ = failure;
    loaded_at_ns_ = now_ns;
  }
  const std::string kept = RulesText(in_force());
  if (is_new) {
    spdlog::warn("cannot reload, {} stay in force: {}", kept, failure);
  } else {
    spdlog::info("cannot reload for the same reasons, {} stay in force", kept);
  }
}

RulesInForce RuleLoader::in_force() const {
  MutexLock lock(mutex_);
  return in_force_;
}

RuleLoad RuleLoader::last_load() const {
  MutexLock lock(mutex_);
  return {failure_.empty(), loaded_at_ns_, failure_, in_force_};
}

std::string RuleLoader::Describe() const {
  RulesInForce rules;
  std::string failure;
  {
    MutexLock lock(mutex_);
    rules = in_force_;
    failure = failure_;
  }
  std::string text = RulesText(rules);
  if (failure.empty()) return text;
  return absl::StrCat(text, "\nthe last reload failed, these stay in force:\n",
                      failure);
}

}  // namespace tollgate
