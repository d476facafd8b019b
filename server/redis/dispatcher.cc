#include "server/redis/dispatcher.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "server/redis/key_slot.h"
#include "spdlog/spdlog.h"

namespace tollgate::redis {
namespace {

constexpr int kMaxAttempts = 6;  // the first one and five redirects
constexpr size_t kMaxNodes = 1024;
constexpr size_t kMaxShown = 200;
constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kTryLaterNs = 2 * kNsPerMs;
constexpr int64_t kRefreshNs = 5'000 * kNsPerMs;
constexpr int64_t kRefreshSoonNs = 100 * kNsPerMs;  // no more often than this
constexpr int64_t kUnusedNs = 10'000 * kNsPerMs;

// What callers are told.
absl::Status StatusOf(RunError error, absl::string_view why) {
  switch (error) {
    case RunError::kTimeout:
      return absl::DeadlineExceededError("redis: no answer in time");
    case RunError::kNotConnected:
      return absl::UnavailableError(
          absl::StrCat("redis: not connected: ", why));
    case RunError::kQueueFull:
      return absl::UnavailableError("redis: too many runs under way");
    case RunError::kConnectionLost:
      return absl::UnavailableError(
          absl::StrCat("redis: connection lost: ", why));
    default:
      return absl::FailedPreconditionError(why.substr(0, kMaxShown));
  }
}

}  // namespace

void TurnAway(ScriptRun run, RunError error, absl::string_view why,
              int64_t took_ns, RunCounters& counters) {
  counters.CountError(error, took_ns);
  run.done(StatusOf(error, why));
}

Dispatcher::Dispatcher(NodeContext& context, Bulletin& bulletin)
    : context_(context), bulletin_(bulletin) {
  if (context.options.topology == Topology::kSingle) {
    bulletin_.topology = Topology::kSingle;
  }
  for (const Endpoint& seed : context.options.seeds) {
    Node* const node = NodeAt(seed);
    if (!absl::c_linear_search(seeds_, node)) seeds_.push_back(node);
  }
}

Node* Dispatcher::NodeAt(const Endpoint& endpoint) {
  std::string name = endpoint.ToString();
  const auto found = nodes_.find(name);
  if (found != nodes_.end()) return found->second.get();
  if (nodes_.size() >= kMaxNodes) return nullptr;
  Node::Events& self = *this;
  auto made = std::make_unique<Node>(endpoint, context_, self);
  return nodes_.emplace(std::move(name), std::move(made)).first->second.get();
}

Node* Dispatcher::Primary() {
  if (primary_ != nullptr && primary_->is_up()) return primary_;
  primary_ = nullptr;
  for (Node* const seed : seeds_) {
    if (seed->is_up()) return primary_ = seed;
  }
  for (Node* const seed : seeds_) {
    if (seed->is_hopeful()) return seed;
  }
  return nullptr;
}

Node* Dispatcher::Target(const Job& job) {
  if (job.ask_at.has_value()) return NodeAt(*job.ask_at);
  switch (topology()) {
    case Topology::kDetect:
      return nullptr;
    case Topology::kSingle:
      return Primary();
    case Topology::kCluster:
      break;
  }
  const int slot = job.run.keys.empty() ? 0 : KeySlot(job.run.keys.front());
  return owners_[static_cast<size_t>(slot)];
}

bool Dispatcher::MayWait() const {
  return topology() == Topology::kDetect &&
         absl::c_any_of(seeds_,
                        [](const Node* seed) { return seed->is_hopeful(); });
}

std::string Dispatcher::WhyNot(const Node* node) const {
  if (node == nullptr && seeds_.front()->is_up()) {
    return "no node serves the slot";
  }
  if (node == nullptr) node = seeds_.front();
  return absl::StrCat(node->endpoint().ToString(), ": ",
                      node->failure().message());
}

void Dispatcher::Dispatch(JobPtr job) {
  const int64_t now_ns = context_.clock.NowNs();
  if (job->run.deadline_ns <= now_ns) {
    return Finish(std::move(job), RunError::kTimeout, "");
  }
  if (job->not_before_ns > now_ns) {
    const int64_t until_ns = job->not_before_ns;
    return Wait(std::move(job), until_ns);
  }
  Node* const node = Target(*job);
  if (node == nullptr ? MayWait() : node->is_hopeful()) {
    return Wait(std::move(job), kNever);
  }
  if (node == nullptr || !node->is_up()) {
    return Finish(std::move(job), RunError::kNotConnected, WhyNot(node));
  }
  if (!node->Send(job, Connection::Form::kDigest)) {
    Finish(std::move(job), RunError::kQueueFull, "");
  }
}

void Dispatcher::Wait(JobPtr job, int64_t until_ns) {
  next_wait_ns_ = std::min({next_wait_ns_, until_ns, job->run.deadline_ns});
  waiting_.push_back(std::move(job));
}

void Dispatcher::Finish(JobPtr job, RunError error, absl::string_view why) {
  --bulletin_.pending;
  TurnAway(std::move(job->run), error, why,
           context_.clock.NowNs() - job->taken_at_ns, context_.counters);
}

void Dispatcher::OnTimeout(JobPtr job) {
  Finish(std::move(job), RunError::kTimeout, "");
}

void Dispatcher::OnLost(JobPtr job, const absl::Status& why) {
  Finish(std::move(job), RunError::kConnectionLost, why.message());
}

void Dispatcher::OnAnswer(Node& node, JobPtr job, Answer answer) {
  if (answer.is_error) {
    return TakeError(node, std::move(job), answer.reply.text);
  }
  --bulletin_.pending;
  context_.counters.CountAnswer(context_.clock.NowNs() - job->taken_at_ns);
  job->run.done(std::move(answer.reply));
}

void Dispatcher::TakeError(Node& node, JobPtr job, const std::string& message) {
  if (topology() == Topology::kCluster) {
    const std::optional<Redirect> redirect =
        ParseRedirect(message, node.endpoint().host);
    if (redirect.has_value()) {
      return Redirected(std::move(job), *redirect, message);
    }
  }
  const RunError error = ErrorOf(message);
  switch (error) {
    case RunError::kNoScript:
      if (job->sent_whole) break;
      // To the same node, after what was sent before: order is kept.
      if (job->was_asking) job->ask_at = node.endpoint();
      if (node.Send(job, Connection::Form::kWhole)) return;
      return Finish(std::move(job), RunError::kQueueFull, "");
    case RunError::kTryAgain:
    case RunError::kClusterDown:
      RefreshSoon();
      return TryLater(std::move(job), error, message);
    case RunError::kReadOnly:
      Finish(std::move(job), error, message);
      return OnReplica(node);
    default:
      break;
  }
  Finish(std::move(job), error, message);
}

void Dispatcher::Redirected(JobPtr job, const Redirect& redirect,
                            const std::string& message) {
  context_.counters.CountRedirect();
  if (job->attempts >= kMaxAttempts) {
    return Finish(std::move(job), RunError::kTooManyRedirects, message);
  }
  if (redirect.ask) {
    job->ask_at = redirect.to;
  } else {
    Node* const owner = NodeAt(redirect.to);
    if (owner != nullptr) owner->SetWanted(true);
    owners_[static_cast<size_t>(redirect.slot)] = owner;
    RefreshSoon();
  }
  Dispatch(std::move(job));
}

void Dispatcher::TryLater(JobPtr job, RunError error,
                          const std::string& message) {
  const int64_t then_ns = context_.clock.NowNs() + kTryLaterNs;
  if (job->attempts >= kMaxAttempts || then_ns >= job->run.deadline_ns) {
    return Finish(std::move(job), error, message);
  }
  job->not_before_ns = then_ns;
  Wait(std::move(job), then_ns);
}

void Dispatcher::OnReplica(Node& node) {
  if (topology() == Topology::kCluster) {
    if (node.is_wanted()) RefreshSoon();
    return;
  }
  node.Drop(absl::FailedPreconditionError("is a replica"));
}

absl::Status Dispatcher::OnGreeted(Node& node, const Greeting& greeting) {
  const Topology found =
      greeting.slots().has_value() ? Topology::kCluster : Topology::kSingle;
  if (topology() == Topology::kDetect) {
    spdlog::info("redis: {} is {}", node.endpoint().ToString(),
                 found == Topology::kCluster ? "of a cluster" : "no cluster");
    if (found == Topology::kCluster) owners_.assign(kSlots, nullptr);
    bulletin_.topology = found;
  } else if (topology() != found) {
    return absl::FailedPreconditionError(
        "is of a cluster or is not, and the server reached first is otherwise");
  }
  if (found == Topology::kCluster) {
    // One that comes back may not know yet that others took its place: it is
    // not heard while all is well.
    if (!bulletin_.is_ready) ApplySlots(node, *greeting.slots());
  } else if (!greeting.is_primary()) {
    return absl::FailedPreconditionError("is a replica");
  }
  return absl::OkStatus();
}

void Dispatcher::OnSlots(Node& node, Answer answer) {
  if (!answer.is_error) ApplySlots(node, answer.reply);
}

void Dispatcher::ApplySlots(const Node& node, const Reply& reply) {
  const absl::StatusOr<std::vector<SlotRange>> ranges =
      ParseSlots(reply, node.endpoint().host);
  // One that has just joined, or forgot the others, knows of none.
  if (!ranges.ok() || ranges->empty()) return;
  for (const auto& [name, known] : nodes_) known->SetWanted(false);
  owners_.assign(kSlots, nullptr);
  for (const SlotRange& range : *ranges) {
    Node* const owner = NodeAt(range.primary);
    if (owner == nullptr) continue;
    owner->SetWanted(true);
    std::fill(owners_.begin() + range.first, owners_.begin() + range.last + 1,
              owner);
  }
  is_changed_ = true;
}

void Dispatcher::RefreshSoon() {
  refresh_at_ns_ = std::min(refresh_at_ns_, refreshed_at_ns_ + kRefreshSoonNs);
}

void Dispatcher::Refresh(int64_t now_ns) {
  refreshed_at_ns_ = now_ns;
  refresh_at_ns_ = now_ns + (bulletin_.is_ready ? kRefreshNs : kRefreshSoonNs);
  const bool has_owner = absl::c_any_of(nodes_, [](const auto& one) {
    return one.second->is_up() && one.second->is_wanted();
  });
  // A node that serves slots, if there is one; and after the one asked last, so
  // that one that is wrong or alone does not decide for long.
  auto next = nodes_.upper_bound(last_refreshed_);
  for (size_t i = 0; i < nodes_.size(); ++i, ++next) {
    if (next == nodes_.end()) next = nodes_.begin();
    const Node& node = *next->second;
    if (!node.is_up() || (has_owner && !node.is_wanted())) continue;
    last_refreshed_ = next->first;
    return next->second->AskSlots();
  }
}

int64_t Dispatcher::Step(int64_t now_ns) {
  int64_t next_ns = kNever;
  for (const auto& [name, node] : nodes_) node->Step(now_ns);
  if (is_changed_) {
    is_changed_ = false;
    Post();
    next_wait_ns_ = now_ns;  // some may go now, or need not wait
    RefreshSoon();
  }
  if (now_ns >= next_wait_ns_) {
    next_wait_ns_ = kNever;
    for (JobPtr& job : std::exchange(waiting_, {})) Dispatch(std::move(job));
  }
  if (topology() == Topology::kCluster) {
    if (now_ns >= refresh_at_ns_) Refresh(now_ns);
    RemoveUnused(now_ns);
    next_ns = refresh_at_ns_;
  }
  // Again, since all this may have made nodes and sent commands.
  for (const auto& [name, node] : nodes_) {
    next_ns = std::min(next_ns, node->Step(now_ns));
  }
  if (is_changed_) next_ns = now_ns;
  return std::min(next_ns, next_wait_ns_);
}

void Dispatcher::RemoveUnused(int64_t now_ns) {
  for (auto it = nodes_.begin(); it != nodes_.end();) {
    const Node& node = *it->second;
    const bool keep = node.is_wanted() || node.owed() > 0 ||
                      now_ns - node.last_used_ns() < kUnusedNs ||
                      absl::c_linear_search(seeds_, &node);
    if (keep) {
      ++it;
      continue;
    }
    std::replace(owners_.begin(), owners_.end(), it->second.get(),
                 static_cast<Node*>(nullptr));
    it = nodes_.erase(it);
  }
}

void Dispatcher::Post() {
  bool is_ready = false;
  bool is_hopeless = true;
  if (topology() == Topology::kCluster) {
    is_ready = absl::c_any_of(owners_, [](const Node* n) { return n; });
    for (const auto& [name, node] : nodes_) {
      if (node->is_wanted() && !node->is_up()) is_ready = false;
      if (node->is_up() || node->is_hopeful()) is_hopeless = false;
    }
  } else {
    const Node* const primary = Primary();
    is_ready = topology() == Topology::kSingle && primary != nullptr &&
               primary->is_up();
    is_hopeless = primary == nullptr;
  }
  bulletin_.is_ready = is_ready;
  std::string hopeless = is_hopeless ? WhyNot(nullptr) : "";
  if (hopeless != bulletin_.hopeless.Get()) {
    bulletin_.hopeless.Set(
        std::make_shared<const std::string>(std::move(hopeless)));
  }
}

void Dispatcher::Flush() {
  for (const auto& [name, node] : nodes_) node->Flush();
}

void Dispatcher::OnResolved(const Endpoint& endpoint,
                            std::vector<Address> addresses) {
  const auto found = nodes_.find(endpoint.ToString());
  if (found != nodes_.end()) found->second->OnResolved(std::move(addresses));
}

void Dispatcher::Close() {
  const absl::Status why = absl::UnavailableError("the server stops");
  for (const auto& [name, node] : nodes_) node->Close(why);
  for (JobPtr& job : std::exchange(waiting_, {})) {
    Finish(std::move(job), RunError::kNotConnected, why.message());
  }
}

}  // namespace tollgate::redis
