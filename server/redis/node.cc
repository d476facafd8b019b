#include "server/redis/node.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/time/time.h"
#include "spdlog/spdlog.h"

namespace tollgate::redis {
namespace {

constexpr int64_t kFirstBackoffNs = 10'000'000;
// One that ends sooner than this has failed, whatever it did before: else a
// server that greets and hangs up would be called without a pause.
constexpr int64_t kLastingNs = 1'000'000'000;

}  // namespace

bool Node::is_up() const {
  return absl::c_any_of(connections_,
                        [](const auto& one) { return one->is_greeted(); });
}

size_t Node::owed() const {
  size_t owed = 0;
  for (const auto& connection : connections_) owed += connection->owed();
  return owed;
}

bool Node::Send(JobPtr& job, Connection::Form form) {
  Connection* best = nullptr;
  for (const auto& connection : connections_) {
    if (connection->CanTake() &&
        (best == nullptr || connection->owed() < best->owed())) {
      best = connection.get();
    }
  }
  if (best == nullptr) return false;
  last_used_ns_ = context_.clock.NowNs();
  best->Send(std::move(job), form);
  return true;
}

void Node::AskSlots() {
  for (const auto& connection : connections_) {
    if (connection->CanTake()) return connection->AskSlots();
  }
}

void Node::Flush() {
  for (const auto& connection : connections_) connection->Flush();
}

size_t Node::Wanted() const {
  return is_up() && is_wanted_
             ? static_cast<size_t>(context_.options.connections)
             : 1;
}

int64_t Node::Step(int64_t now_ns) {
  const auto bury = [this] {
    std::erase_if(connections_,
                  [](const auto& one) { return one->is_closed(); });
  };
  for (const auto& connection : connections_) connection->Step(now_ns);
  bury();
  OpenMore(now_ns);
  bury();  // what was refused at once
  int64_t next_ns = kNever;
  for (const auto& connection : connections_) {
    next_ns = std::min(next_ns, connection->Step(now_ns));
  }
  if (connections_.size() < Wanted() && !is_resolving_) {
    next_ns = std::min(next_ns, retry_at_ns_);
  }
  return next_ns;
}

void Node::OpenMore(int64_t now_ns) {
  while (connections_.size() < Wanted() && !is_resolving_ &&
         now_ns >= retry_at_ns_) {
    if (address_ < addresses_.size()) {
      Open();
      continue;
    }
    address_ = 0;
    std::optional<Address> numeric = NumericAddress(endpoint_);
    if (numeric.has_value()) {
      addresses_ = {*numeric};
    } else {
      is_resolving_ = true;
      context_.resolver.Ask(endpoint_);
    }
  }
}

void Node::Open() {
  Connection::Events& events = *this;
  connections_.push_back(
      std::make_unique<Connection>(context_.loop, context_.clock,
                                   context_.options, context_.scripts, events));
  connections_.back()->Open(addresses_[address_]);
}

void Node::OnResolved(std::vector<Address> addresses) {
  is_resolving_ = false;
  addresses_ = std::move(addresses);
  address_ = 0;
  if (addresses_.empty()) Fail(absl::UnavailableError("no such host"));
}

void Node::Close(const absl::Status& why) {
  is_dropping_ = true;
  for (const auto& connection : connections_) connection->Close(why);
  is_dropping_ = false;
}

void Node::Drop(const absl::Status& why) {
  Close(why);
  address_ = addresses_.size();  // look the name up again
  Fail(why);
}

absl::Status Node::OnGreeted(Connection& connection) {
  absl::Status status = events_.OnGreeted(*this, connection.greeting());
  if (!status.ok()) return status;
  context_.counters.CountConnection();
  if (!was_up_) spdlog::info("redis: connected to {}", endpoint_.ToString());
  was_up_ = true;
  retry_at_ns_ = 0;  // the other connections may come
  events_.OnChange();
  return absl::OkStatus();
}

void Node::OnAnswer(JobPtr job, Answer answer) {
  events_.OnAnswer(*this, std::move(job), std::move(answer));
}

void Node::OnTimeout(JobPtr job) { events_.OnTimeout(std::move(job)); }

void Node::OnSlots(Answer answer) { events_.OnSlots(*this, std::move(answer)); }

void Node::OnRole(Connection& /*connection*/, bool is_primary) {
  if (!is_primary) events_.OnReplica(*this);
}

void Node::OnLost(JobPtr job, const absl::Status& why) {
  events_.OnLost(std::move(job), why);
}

void Node::OnClosed(Connection& connection, const absl::Status& why) {
  const bool was_greeted = connection.greeted_at_ns() > 0;
  if (was_greeted) context_.counters.CountLoss();
  if (is_dropping_) return;
  const int64_t now_ns = context_.clock.NowNs();
  if (absl::IsDeadlineExceeded(why) && was_greeted) {
    // Redis itself does not answer, so neither would the others.
    return Drop(why);
  }
  if (is_up()) {  // another one goes on
    retry_at_ns_ = now_ns + (was_greeted ? kFirstBackoffNs : kLastingNs);
    return;
  }
  if (was_greeted && now_ns - connection.greeted_at_ns() >= kLastingNs) {
    failures_ = 0;
    retry_at_ns_ = now_ns;  // a restart may be over already
    if (was_up_) {
      spdlog::warn("redis: lost {}: {}", endpoint_.ToString(),
                   std::string(why.message()));
    }
    was_up_ = false;
    failure_ = why;
    return events_.OnChange();
  }
  ++address_;
  if (address_ < addresses_.size()) return;  // the name has another one
  Fail(why);
}

void Node::Fail(const absl::Status& why) {
  if (was_up_ || why.message() != failure_.message()) {
    spdlog::warn("redis: cannot use {}: {}", endpoint_.ToString(),
                 std::string(why.message()));
  }
  was_up_ = false;
  failure_ = why;
  ++failures_;
  retry_at_ns_ = context_.clock.NowNs() + BackoffNs();
  events_.OnChange();
}

int64_t Node::BackoffNs() {
  const int64_t longest =
      absl::ToInt64Nanoseconds(context_.options.max_backoff);
  const int64_t pause =
      std::min(longest, kFirstBackoffNs << std::min(failures_ - 1, 16));
  // From half of it to all of it.
  return pause / 2 + static_cast<int64_t>(context_.random() %
                                          static_cast<uint64_t>(pause / 2 + 1));
}

}  // namespace tollgate::redis
