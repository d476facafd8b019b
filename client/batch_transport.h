#ifndef TOLLGATE_CLIENT_BATCH_TRANSPORT_H_
#define TOLLGATE_CLIENT_BATCH_TRANSPORT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/decision.h"
#include "client/request.h"
#include "client/transport.h"

namespace tollgate::client {

// A request at `cost` in place of its own, and what came back.
struct Question {
  Request request;
  uint32_t cost = 1;
};
struct Answer {
  absl::Status status;  // as ReplyHandler has it
  Decision decision;
};

// Waits for the answers to one batch.
class BatchHandler {
 public:
  // One answer for each question, in their order, to be moved from.
  virtual void OnBatch(absl::Span<Answer> answers) = 0;

 protected:
  ~BatchHandler() = default;
};

// Waits for an instant.
class WakeHandler {
 public:
  virtual void OnWake() = 0;

 protected:
  ~WakeHandler() = default;
};

// A transport that also carries many requests in one message, and keeps time.
// Thread-safe.
class BatchTransport : public Transport {
 public:
  // As Send, for 1 to 1,000 questions in one message; each is decided on its
  // own.
  virtual void SendBatch(absl::Span<const Question> questions,
                         absl::Duration timeout, BatchHandler& handler) = 0;

  // Wakes `handler` once after `delay`, never before this returned. The next
  // may be asked for from OnWake on, not sooner. Dropped by Stop.
  virtual void WakeIn(absl::Duration delay, WakeHandler& handler) = 0;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_BATCH_TRANSPORT_H_
