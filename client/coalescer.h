#ifndef TOLLGATE_CLIENT_COALESCER_H_
#define TOLLGATE_CLIENT_COALESCER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/batch_transport.h"
#include "client/request.h"
#include "client/transport.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"

namespace tollgate::client {

struct CoalescerOptions {
  // Questions in one message, 2 to 1,000. A full batch that is not the last
  // one lets the service decide while this client reads the one before.
  uint32_t max_batch = 100;
  // Bytes of one message with several questions: what the service takes.
  size_t max_batch_bytes = size_t{64} * 1024;
  // Messages that are out at a time; while there are as many, calls gather.
  uint32_t max_out = 2;
};

// A transport that sends calls which are pending at the same time together.
// With fewer than max_out messages out a call goes at once, so an idle client
// adds no delay; else it joins the next batch, which goes when an answer comes.
// Calls that handlers make go together when the last handler has returned.
//
// Every call is answered exactly once, by its own deadline even where its batch
// is not; one whose deadline has passed while it gathered is not sent. Requests
// go out in the order in which they came. What gathers is bounded by who calls:
// this class does not refuse. Thread-safe.
class Coalescer final : public Transport, private WakeHandler {
 public:
  // `clock` must outlive it, and go as fast as the transport's.
  Coalescer(const CoalescerOptions& options, const Clock& clock,
            std::unique_ptr<BatchTransport> below);
  ~Coalescer() override;

  void Send(const Request& request, uint32_t cost, absl::Duration timeout,
            ReplyHandler& handler) override;
  void Stop() override;

  // These go as they are.
  void SendRelease(const std::string& ticket, absl::Duration timeout,
                   ReplyHandler& handler) override {
    below_->SendRelease(ticket, timeout, handler);
  }
  void SendRefund(const Request& request, uint32_t cost, absl::Time decided_at,
                  absl::string_view overflow, absl::Duration timeout,
                  ReplyHandler& handler) override {
    below_->SendRefund(request, cost, decided_at, overflow, timeout, handler);
  }

 private:
  class Batch;
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  void OnWake() override;
  // The answers to `batch`, which is out, have come.
  void Deliver(Batch& batch, absl::Span<Answer> answers);
  // Sends what gathers, as far as max_out allows.
  void SendGathered();
  void SendOut(Batch& batch, absl::Duration timeout);

  bool MayGoAtOnce() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The batch that takes one more call of `bytes`.
  Batch& BatchFor(size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::unique_ptr<Batch> NewBatch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Keep(std::unique_ptr<Batch> batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Counts it as out; the transport holds it until it answers.
  Batch& PutOut(std::unique_ptr<Batch> batch)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::unique_ptr<Batch> TakeBack(Batch& batch)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const CoalescerOptions options_;
  const Clock& clock_;
  const std::unique_ptr<BatchTransport> below_;

  Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // When OnWake is due: at the first deadline of all.
  int64_t wake_at_ns_ ABSL_GUARDED_BY(mutex_) = kNever;
  // Whose handlers are being called: what they send gathers.
  std::thread::id delivering_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::unique_ptr<Batch>> gathering_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Batch>> out_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Batch>> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_COALESCER_H_
