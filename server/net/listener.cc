#include "server/net/listener.h"

#include <errno.h>  // NOLINT(modernize-deprecated-headers): with the others
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/base/fd_thread.h"
#include "server/base/mutex.h"
#include "server/base/periodic_thread.h"
#include "server/net/descriptors.h"
#include "server/net/listen_socket.h"
#include "server/net/peer.h"
#include "server/net/self_dial.h"
#include "server/net/stall_watch.h"
#include "server/net/tcp_probe.h"

namespace tollgate::net {
namespace {

// How often connections that were active lately are looked at; idle ones each
// so many times. A look takes about a microsecond, and so there are at most so
// many of either kind at once: with more connections, each has its turn later.
constexpr absl::Duration kLook = absl::Milliseconds(20);
constexpr size_t kIdleTurn = 10;
constexpr size_t kLooksAtOnce = 512;
// Connections taken before those that are there are looked at again.
constexpr int kAcceptAtOnce = 64;
// What it waits where the system cannot give a connection.
constexpr int kCannotAcceptMs = 10;

class WatchingListener final : public Listener {
 public:
  WatchingListener(ListenerOptions options, ListenSocket socket,
                   const PeerLedger& ledger, const Clock& steady_clock,
                   ConnectionObserver& observer)
      : options_(std::move(options)),
        max_connections_(AffordableConnections(options_.max_connections)),
        ledger_(ledger),
        clock_(steady_clock),
        observer_(observer),
        port_(socket.port),
        listen_fd_(socket.fd),
        spare_fd_(OpenSpare()) {
    const int on = 1;  // accepted sockets inherit it
    ::setsockopt(listen_fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    socklen_t size = sizeof(bound_);
    ::getsockname(listen_fd_, reinterpret_cast<sockaddr*>(&bound_), &size);
  }
  ~WatchingListener() override;

  [[nodiscard]] int port() const override { return port_; }
  void Start(TakeFn take) override;
  void StopAccepting() override;
  [[nodiscard]] bool Accepts(absl::Duration timeout) override;

 private:
  struct Connection {
    int fd;  // our duplicate
    Peer peer;
    PeerLedger::Slot slot;
    ConnectionGuard guard;
    uint64_t read = 0;   // at the last look
    bool active = true;  // since the look before, or about to be cut
  };
  enum class Accepted { kOne, kNone, kCannot };

  // Takes some of those that wait; what to wait before more.
  absl::Duration AcceptSome();
  Accepted AcceptOne();
  Accepted RefuseWithSpare();
  void Admit(int fd, const sockaddr_storage& from);
  void Refuse(int fd, RefuseReason reason);
  [[nodiscard]] bool IsOwn(const Peer& peer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // A connection that was cut, to be told of.
  struct Killed {
    KillReason reason;
    std::string peer;
  };

  // A step of the thread that watches: the time until the next.
  absl::Duration LookAround();
  // Whether it stays.
  [[nodiscard]] bool Look(Connection& connection, int64_t now_ns,
                          std::vector<Killed>& killed)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  [[nodiscard]] std::optional<KillReason> Judge(Connection& connection,
                                                const TcpSample& sample,
                                                uint64_t credit,
                                                int64_t now_ns) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(size_t index) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Why a connection of that address cannot be had now, if so.
  [[nodiscard]] std::optional<RefuseReason> WhyNot(const Address& address)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ListenerOptions options_;
  const int max_connections_;
  const PeerLedger& ledger_;
  const Clock& clock_;
  ConnectionObserver& observer_;
  const int port_;
  sockaddr_storage bound_{};

  // Of the thread that accepts, or of nobody while there is none.
  int listen_fd_;
  int spare_fd_;
  TakeFn take_;

  Mutex mutex_;
  std::vector<std::unique_ptr<Connection>> connections_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Address, int> per_address_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Address, int64_t> blocked_until_ns_
      ABSL_GUARDED_BY(mutex_);
  size_t looks_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t active_ ABSL_GUARDED_BY(mutex_) = 0;  // at the last look
  StallWatch stall_ ABSL_GUARDED_BY(mutex_);
  // Connections of our own that are to be accepted, as PeerOf writes them.
  std::vector<std::string> own_ ABSL_GUARDED_BY(mutex_);

  // Whoever takes a connection may keep the thread that hands it out as long as
  // the peer sends, so another one watches.
  std::unique_ptr<PeriodicThread> watch_thread_;
  std::unique_ptr<FdThread> accept_thread_;
};

WatchingListener::~WatchingListener() {
  accept_thread_.reset();
  watch_thread_.reset();
  if (listen_fd_ >= 0) ::close(listen_fd_);
  if (spare_fd_ >= 0) ::close(spare_fd_);
  MutexLock lock(mutex_);
  observer_.OnConnections(-static_cast<int>(connections_.size()));
  while (!connections_.empty()) Forget(connections_.size() - 1);
}

void WatchingListener::Start(TakeFn take) {
  take_ = std::move(take);
  watch_thread_ =
      std::make_unique<PeriodicThread>([this] { return LookAround(); });
  accept_thread_ =
      std::make_unique<FdThread>(listen_fd_, [this] { return AcceptSome(); });
}

void WatchingListener::StopAccepting() {
  accept_thread_.reset();
  if (listen_fd_ >= 0) ::close(std::exchange(listen_fd_, -1));
}

absl::Duration WatchingListener::AcceptSome() {
  if (spare_fd_ < 0) spare_fd_ = OpenSpare();
  for (int i = 0; i < kAcceptAtOnce; ++i) {
    switch (AcceptOne()) {
      case Accepted::kOne:
        continue;
      case Accepted::kNone:
        return absl::Hours(1);  // the descriptor wakes us
      case Accepted::kCannot:
        // The descriptor stays readable, so this thread would spin.
        ::poll(nullptr, 0, kCannotAcceptMs);
        return absl::ZeroDuration();
    }
  }
  return absl::ZeroDuration();
}

WatchingListener::Accepted WatchingListener::AcceptOne() {
  sockaddr_storage from{};
  socklen_t size = sizeof(from);
  const int fd = ::accept4(listen_fd_, reinterpret_cast<sockaddr*>(&from),
                           &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) {
    Admit(fd, from);
    return Accepted::kOne;
  }
  switch (errno) {
    case EAGAIN:
      return Accepted::kNone;
    case EMFILE:
    case ENFILE:
      return RefuseWithSpare();
    case ENOBUFS:
    case ENOMEM:
      return Accepted::kCannot;
    default:  // this one is gone already; there may be others
      return Accepted::kOne;
  }
}

// Peers would wait for ever, and poll would never be still.
WatchingListener::Accepted WatchingListener::RefuseWithSpare() {
  if (spare_fd_ < 0) return Accepted::kCannot;
  ::close(std::exchange(spare_fd_, -1));
  const int fd =
      ::accept4(listen_fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) Refuse(fd, RefuseReason::kDescriptors);
  spare_fd_ = OpenSpare();
  return fd >= 0 ? Accepted::kOne : Accepted::kCannot;
}

void WatchingListener::Refuse(int fd, RefuseReason reason) {
  observer_.OnRefused(reason);
  CloseWithReset(fd);
}

std::optional<RefuseReason> WatchingListener::WhyNot(const Address& address) {
  const auto blocked = blocked_until_ns_.find(address);
  if (blocked != blocked_until_ns_.end() && clock_.NowNs() < blocked->second) {
    return RefuseReason::kFlood;
  }
  if (max_connections_ > 0 &&
      connections_.size() >= static_cast<size_t>(max_connections_)) {
    return RefuseReason::kTotal;
  }
  const auto here = per_address_.find(address);
  if (options_.max_connections_per_address > 0 && here != per_address_.end() &&
      here->second >= options_.max_connections_per_address) {
    return RefuseReason::kAddress;
  }
  return std::nullopt;
}

void WatchingListener::Admit(int fd, const sockaddr_storage& from) {
  Peer peer = PeerOf(from);
  const PeerLedger::Slot slot = ledger_.SlotOf(peer.text);
  const int ours = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (ours < 0) return Refuse(fd, RefuseReason::kDescriptors);
  std::optional<RefuseReason> refused;
  bool own = false;
  bool first = false;
  {
    MutexLock lock(mutex_);
    own = IsOwn(peer);
    refused = WhyNot(peer.address);
    if (!own && !refused.has_value()) {
      first = connections_.empty();
      ++per_address_[peer.address];
      connections_.push_back(std::make_unique<Connection>(
          Connection{ours, std::move(peer), slot,
                     ConnectionGuard(ledger_.CreditOf(slot))}));
    }
  }
  if (own || refused.has_value()) {
    ::close(ours);
    return own ? CloseWithReset(fd) : Refuse(fd, *refused);
  }
  observer_.OnConnections(+1);
  if (first) watch_thread_->Wake();
  take_(fd);
}

absl::Duration WatchingListener::LookAround() {
  std::vector<Killed> killed;
  int gone = 0;
  absl::Duration pause = absl::Hours(1);  // until there is a connection
  {
    MutexLock lock(mutex_);
    const int64_t now_ns = clock_.NowNs();
    ++looks_;
    absl::erase_if(blocked_until_ns_, [now_ns](const auto& each) {
      return each.second <= now_ns;
    });
    const size_t active_turn = active_ / kLooksAtOnce + 1;
    const size_t idle_turn =
        std::max(kIdleTurn, connections_.size() / kLooksAtOnce + 1);
    active_ = 0;
    bool calls_began = false;
    bool may_stall = false;
    // Downwards, since the last takes the place of one that goes.
    for (size_t i = connections_.size(); i-- > 0;) {
      Connection& connection = *connections_[i];
      const size_t turn = connection.active ? active_turn : idle_turn;
      if ((looks_ + i) % turn == 0) {
        const bool stays = Look(connection, now_ns, killed);
        calls_began = calls_began || connection.guard.calls_began();
        may_stall = may_stall || connection.guard.may_stall();
        if (!stays) {
          Forget(i);
          ++gone;
          continue;
        }
      }
      if (connection.active) ++active_;
    }
    stall_.EndRound(calls_began, may_stall);
    if (!connections_.empty() || !blocked_until_ns_.empty()) pause = kLook;
  }
  for (const Killed& each : killed) observer_.OnKilled(each.reason, each.peer);
  if (gone > 0) observer_.OnConnections(-gone);
  return pause;
}

bool WatchingListener::Look(Connection& connection, int64_t now_ns,
                            std::vector<Killed>& killed) {
  const uint64_t credit = ledger_.CreditOf(connection.slot);
  const std::optional<TcpSample> sample = ProbeTcp(connection.fd);
  if (!sample.has_value()) return false;
  const std::optional<KillReason> reason =
      Judge(connection, *sample, credit, now_ns);
  if (!reason.has_value()) return true;
  // Whoever has the other descriptor closes it when it sees the end; what the
  // peer has not taken by then is dropped.
  const linger none{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(connection.fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
  ::shutdown(connection.fd, SHUT_RDWR);
  // Else its next connection would do the same before it is looked at.
  const int64_t block_ns = absl::ToInt64Nanoseconds(options_.guard.flood_block);
  if (*reason == KillReason::kFlood && block_ns > 0) {
    blocked_until_ns_[connection.peer.address] = now_ns + block_ns;
  }
  killed.push_back({*reason, connection.peer.text});
  return false;
}

std::optional<KillReason> WatchingListener::Judge(Connection& connection,
                                                  const TcpSample& sample,
                                                  uint64_t credit,
                                                  int64_t now_ns) const {
  connection.active =
      std::exchange(connection.read, sample.read) != sample.read;
  switch (connection.guard.Look(sample, credit, now_ns, options_.guard)) {
    case Verdict::kKeep:
      break;
    case Verdict::kLookAgain:
      connection.active = true;
      break;
    case Verdict::kFlood:
      return KillReason::kFlood;
    case Verdict::kSlowReader:
      return KillReason::kSlowReader;
  }
  if (!connection.guard.may_stall()) return std::nullopt;
  if (stall_.stalled()) return KillReason::kFlood;
  connection.active = true;  // what is read of it may be long in parsing
  return std::nullopt;
}

void WatchingListener::Forget(size_t index) {
  const auto here = per_address_.find(connections_[index]->peer.address);
  if (--here->second == 0) per_address_.erase(here);
  ::close(connections_[index]->fd);
  connections_[index] = std::move(connections_.back());
  connections_.pop_back();
}

bool WatchingListener::Accepts(absl::Duration timeout) {
  std::string own;
  const Dialled dialled =
      DialUntilClosed(bound_, timeout, [&](const sockaddr_storage& from) {
        own = PeerOf(from).text;
        MutexLock lock(mutex_);
        own_.push_back(own);
      });
  MutexLock lock(mutex_);
  own_.erase(std::remove(own_.begin(), own_.end(), own), own_.end());
  return dialled != Dialled::kSilence;
}

bool WatchingListener::IsOwn(const Peer& peer) {
  return std::find(own_.begin(), own_.end(), peer.text) != own_.end();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> MakeListener(
    ListenerOptions options, const PeerLedger& ledger,
    const Clock& steady_clock, ConnectionObserver& observer) {
  const absl::StatusOr<ListenSocket> socket = ListenOn(options.listen, "gRPC");
  if (!socket.ok()) return socket.status();
  return std::make_unique<WatchingListener>(std::move(options), *socket, ledger,
                                            steady_clock, observer);
}

}  // namespace tollgate::net
