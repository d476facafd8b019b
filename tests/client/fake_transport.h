#ifndef TOLLGATE_TESTS_CLIENT_FAKE_TRANSPORT_H_
#define TOLLGATE_TESTS_CLIENT_FAKE_TRANSPORT_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/call_wait.h"
#include "client/client_core.h"
#include "client/outage_rules.h"
#include "client/transport.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"

namespace tollgate::client {

// What the test has sent and not yet answered. Outlives the transport.
struct Wire {
  struct Sent {
    Request request;
    uint32_t cost = 0;
    absl::Duration timeout;
    ReplyHandler* handler = nullptr;
    std::string ticket;          // of a release
    absl::Time decided_at = {};  // of a refund
    std::string overflow;        // of a refund
  };
  // Answers a call within Send. Empty: it stays in `out`.
  std::function<void(const Sent&)> answer;

  // Answers the oldest call that is out.
  void AnswerOldest(const absl::Status& status, Decision decision = {}) {
    const Sent sent = Pop();
    sent.handler->OnReply(status, std::move(decision));
  }
  Sent Pop() {
    MutexLock lock(mutex);
    Sent sent = out.front();
    out.erase(out.begin());
    return sent;
  }
  size_t out_count() {
    MutexLock lock(mutex);
    return out.size();
  }

  Mutex mutex;
  std::vector<Sent> out ABSL_GUARDED_BY(mutex);
  uint64_t sends ABSL_GUARDED_BY(mutex) = 0;
};

class FakeTransport final : public Transport {
 public:
  explicit FakeTransport(Wire& wire) : wire_(wire) {}

  void Send(const Request& request, uint32_t cost, absl::Duration timeout,
            ReplyHandler& handler) override {
    Add({request, cost, timeout, &handler});
  }
  void SendRelease(const std::string& ticket, absl::Duration timeout,
                   ReplyHandler& handler) override {
    Add({{}, 0, timeout, &handler, ticket});
  }
  void SendRefund(const Request& request, uint32_t cost, absl::Time decided_at,
                  absl::string_view overflow, absl::Duration timeout,
                  ReplyHandler& handler) override {
    Add({request, cost, timeout, &handler, "", decided_at,
         std::string(overflow)});
  }

  void Stop() override {
    while (wire_.out_count() > 0) {
      wire_.AnswerOldest(absl::CancelledError("the client ends"));
    }
  }

 private:
  void Add(const Wire::Sent& sent) {
    {
      MutexLock lock(wire_.mutex);
      ++wire_.sends;
      if (!wire_.answer) wire_.out.push_back(sent);
    }
    if (wire_.answer) wire_.answer(sent);
  }

  Wire& wire_;
};

// Lets the fake time pass in place of waiting: it jumps to the deadline.
class JumpingWait final : public CallWait {
 public:
  explicit JumpingWait(FakeClock& clock) : clock_(clock) {}
  void Wait(std::condition_variable_any& /*changed*/, Mutex& /*mutex*/,
            absl::FunctionRef<bool()> done, int64_t deadline_ns) override {
    if (!done()) clock_.Set(deadline_ns);
  }

 private:
  FakeClock& clock_;
};

// Waits for an answer for ever, whatever the time: for tests in which another
// thread answers every call.
class PatientWait final : public CallWait {
 public:
  void Wait(std::condition_variable_any& changed, Mutex& mutex,
            absl::FunctionRef<bool()> done, int64_t /*deadline_ns*/)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) override {
    while (!done()) changed.wait(mutex);
  }
};

inline constexpr int64_t kStartNs = 1'700'000'000'000'000'000;
inline constexpr int64_t kMs = 1'000'000;

// A client whose network and time are the test's.
struct FakeClient {
  explicit FakeClient(const ClientOptions& options = {},
                      std::unique_ptr<CallWait> wait = nullptr) {
    auto owned_clock = std::make_unique<FakeClock>(kStartNs);
    clock = owned_clock.get();
    ClientParts parts;
    parts.clock = std::move(owned_clock);
    parts.wait = wait ? std::move(wait) : std::make_unique<JumpingWait>(*clock);
    parts.rules = std::make_unique<OutageRules>(*clock);
    rules = parts.rules.get();
    parts.transport = std::make_unique<FakeTransport>(wire);
    parts.seed = 1;
    core = *ClientCore::Create(options, std::move(parts));
  }

  uint64_t sends() {
    MutexLock lock(wire.mutex);
    return wire.sends;
  }
  void AnswerAll(absl::Status status, Decision decision = {}) {
    wire.answer = [status = std::move(status),
                   decision = std::move(decision)](const Wire::Sent& sent) {
      sent.handler->OnReply(status, decision);
    };
  }
  void AnswerNothing() { wire.answer = nullptr; }

  Wire wire;
  FakeClock* clock = nullptr;    // the core's
  OutageRules* rules = nullptr;  // the core's
  std::unique_ptr<ClientCore> core;
};

inline Request AnaSearches() {
  return {"shop", {{{"user", "ana"}, {"endpoint", "/search"}}}, 1};
}

}  // namespace tollgate::client

#endif  // TOLLGATE_TESTS_CLIENT_FAKE_TRANSPORT_H_
