#ifndef TOLLGATE_CLIENT_TRANSPORT_H_
#define TOLLGATE_CLIENT_TRANSPORT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/decision.h"
#include "client/request.h"

namespace tollgate::client {

// Waits for the answer to one call.
class ReplyHandler {
 public:
  // The service's decision if `status` is OK, otherwise why there is none.
  virtual void OnReply(const absl::Status& status, Decision decision) = 0;

 protected:
  ~ReplyHandler() = default;
};

// Carries requests to the service. Thread-safe; Stop before it is destroyed.
class Transport {
 public:
  virtual ~Transport() = default;

  // Sends `request` at `cost` in place of its own, and returns without waiting
  // for the answer. `handler` is called exactly once, on any thread, perhaps
  // before Send returns; with DEADLINE_EXCEEDED soon after `timeout` (above 0)
  // if no answer came. `request` is not needed after Send returned.
  virtual void Send(const Request& request, uint32_t cost,
                    absl::Duration timeout, ReplyHandler& handler) = 0;

  // As Send, for what Client::Release and Client::Refund give back. The
  // handler's decision says nothing.
  virtual void SendRelease(const std::string& ticket, absl::Duration timeout,
                           ReplyHandler& handler) = 0;
  virtual void SendRefund(const Request& request, uint32_t cost,
                          absl::Time decided_at, absl::string_view overflow,
                          absl::Duration timeout, ReplyHandler& handler) = 0;

  // Answers every call that is still out, and returns when no handler is being
  // called any more. Meanwhile only handlers may Send; they are answered at
  // once. Calling it again does nothing.
  virtual void Stop() = 0;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_TRANSPORT_H_
