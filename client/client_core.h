#ifndef TOLLGATE_CLIENT_CLIENT_CORE_H_
#define TOLLGATE_CLIENT_CLIENT_CORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/backoff.h"
#include "client/backstop.h"
#include "client/breaker.h"
#include "client/call_counters.h"
#include "client/call_wait.h"
#include "client/decision.h"
#include "client/options.h"
#include "client/outage_rules.h"
#include "client/refusal_cache.h"
#include "client/request.h"
#include "client/stats.h"
#include "client/transport.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"

namespace tollgate::client {

// What a client is made of, beside its options.
struct ClientParts {
  std::unique_ptr<Clock> clock;
  std::unique_ptr<CallWait> wait;
  // What the service pushes, by the transport. Null: it pushes nothing.
  std::unique_ptr<OutageRules> rules;
  std::unique_ptr<Transport> transport;
  uint64_t seed = 0;  // of the random pauses
  HashKey hash_key;   // of the refusal cache
};

// The client without a network and without a machine's clock: whom to ask, how
// long to wait, who answers instead. Slots for calls are made as they are
// needed, at most max_in_flight, and used again. Thread-safe.
class ClientCore {
 public:
  // INVALID_ARGUMENT if ValidateOptions refuses `options`.
  static absl::StatusOr<std::unique_ptr<ClientCore>> Create(
      const ClientOptions& options, ClientParts parts);
  ~ClientCore();
  ClientCore(const ClientCore&) = delete;
  ClientCore& operator=(const ClientCore&) = delete;

  // As in Client.
  Decision ShouldAllow(const Request& request);
  void ShouldAllowAsync(const Request& request,
                        std::function<void(Decision)> callback);
  void Release(const std::string& ticket);
  void Refund(const Request& request, uint32_t cost, absl::Time decided_at,
              absl::string_view overflow);
  [[nodiscard]] ClientStats stats() const;

  // Calls back whoever still waits. Afterwards only callbacks may ask, until
  // this returns. The destructor does it too.
  void Stop() { transport_->Stop(); }

 private:
  // A request, once it has been read.
  struct Asked {
    Fingerprint key;
    uint32_t cost = 0;
    int64_t at_ns = 0;
  };
  struct Call;
  struct Probe;
  struct GiveBack;

  ClientCore(const ClientOptions& options, ClientParts parts,
             std::unique_ptr<Backstop> backstop);

  // Of a refusal under the rules that the service has said last.
  Fingerprint KeyOf(const Request& request) const {
    return refusals_.KeyOf(request, rules_->version());
  }
  // A slot for sending `request`, or why it is answered locally.
  absl::StatusOr<Call*> Admit(const Request& request, int64_t now_ns);
  void Free(Call& call);
  // Whether one more release or refund may be sent; if not, it is counted.
  bool AdmitGiveBack();
  void SendProbe(const Request& request);

  // Tells the breaker and the counters how a call ended.
  void Record(const absl::Status& status);
  void RecordProbe(const absl::Status& status);
  // The answer to a call that ended with `status`.
  Decision Conclude(const Request& request, const Asked& asked,
                    const absl::Status& status, Decision decision);
  Decision DecideLocally(const Request& request, absl::Status error);
  Decision ByPolicy(absl::Status error) const;
  Decision Counted(Decision decision);

  const ClientOptions options_;
  const std::unique_ptr<Clock> clock_;
  const std::unique_ptr<CallWait> wait_;
  const std::unique_ptr<Backstop> backstop_;
  const std::unique_ptr<OutageRules> rules_;
  RefusalCache refusals_;

  mutable Mutex mutex_;
  Breaker breaker_ ABSL_GUARDED_BY(mutex_);
  Random random_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Call>> calls_ ABSL_GUARDED_BY(mutex_);
  std::vector<Call*> free_ ABSL_GUARDED_BY(mutex_);
  const std::unique_ptr<Probe> probe_;
  const std::unique_ptr<GiveBack> give_back_;
  std::atomic<uint32_t> gives_back_out_{0};  // a bound; orders nothing

  CallCounters counters_;

  const std::unique_ptr<Transport> transport_;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_CLIENT_CORE_H_
