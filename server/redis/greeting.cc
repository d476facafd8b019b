#include "server/redis/greeting.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/redis/command.h"

namespace tollgate::redis {
namespace {

constexpr size_t kDigestBytes = 40;
constexpr size_t kMaxShown = 200;

absl::Status Refused(absl::string_view command, const Answer& answer) {
  return absl::FailedPreconditionError(absl::StrCat(
      command, ": ",
      answer.is_error
          ? absl::string_view(answer.reply.text).substr(0, kMaxShown)
          : "unexpected reply"));
}

}  // namespace

bool SaysPrimary(const Answer& role) {
  return role.is_error || role.reply.elements.empty() ||
         (role.reply.elements[0].text != "slave" &&
          role.reply.elements[0].text != "replica");
}

Greeting::Greeting(const RedisOptions& options,
                   absl::Span<const std::string> scripts)
    : options_(options), scripts_(scripts) {
  Skip();
}

size_t Greeting::AppendTo(std::string& out) const {
  size_t commands = 0;
  const auto append = [&](absl::Span<const absl::string_view> words) {
    AppendCommand(words, out);
    ++commands;
  };
  if (!options_.password.empty()) {
    if (options_.user.empty()) {
      append({"AUTH", options_.password});
    } else {
      append({"AUTH", options_.user, options_.password});
    }
  }
  for (const std::string& script : scripts_) append({"SCRIPT", "LOAD", script});
  append({"ROLE"});
  if (options_.topology != Topology::kSingle) append({"CLUSTER", "SLOTS"});
  append({"EVAL", "return 1", "0"});
  return commands;
}

void Greeting::Skip() {
  if (step_ == Step::kLogin && options_.password.empty()) step_ = Step::kLoad;
  if (step_ == Step::kLoad && digests_.size() == scripts_.size()) {
    step_ = Step::kRole;
  }
  if (step_ == Step::kSlots && options_.topology == Topology::kSingle) {
    step_ = Step::kTry;
  }
}

absl::Status Greeting::Take(Answer answer) {
  absl::Status status;
  switch (step_) {
    case Step::kLogin:
      if (answer.is_error) return Refused("AUTH", answer);
      step_ = Step::kLoad;
      break;
    case Step::kLoad:
      status = TakeDigest(answer);
      break;
    case Step::kRole:
      is_primary_ = SaysPrimary(answer);
      step_ = Step::kSlots;
      break;
    case Step::kSlots:
      status = TakeSlots(std::move(answer));
      step_ = Step::kTry;
      break;
    case Step::kTry:
      if (answer.is_error) return Refused("EVAL", answer);
      step_ = Step::kDone;
      break;
    case Step::kDone:
      return absl::InternalError("a reply that nobody asked for");
  }
  Skip();
  return status;
}

absl::Status Greeting::TakeDigest(const Answer& answer) {
  const std::string& digest = answer.reply.text;
  if (answer.is_error || digest.size() != kDigestBytes ||
      !absl::c_all_of(digest, absl::ascii_isxdigit)) {
    return Refused("SCRIPT LOAD", answer);
  }
  digests_.push_back(digest);
  return absl::OkStatus();
}

absl::Status Greeting::TakeSlots(Answer answer) {
  if (!answer.is_error && answer.reply.kind == Reply::Kind::kArray) {
    slots_ = std::move(answer.reply);
    return absl::OkStatus();
  }
  // A server of no cluster says so, and a user may not be allowed to ask.
  return options_.topology == Topology::kCluster
             ? Refused("CLUSTER SLOTS", answer)
             : absl::OkStatus();
}

}  // namespace tollgate::redis
