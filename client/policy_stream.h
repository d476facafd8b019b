#ifndef TOLLGATE_CLIENT_POLICY_STREAM_H_
#define TOLLGATE_CLIENT_POLICY_STREAM_H_

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/backoff.h"
#include "client/policy.h"
#include "client/policy_wire.h"
#include "tollgate/v1/rate_limiter.grpc.pb.h"

namespace tollgate::client {

struct PolicyStreamOptions {
  std::vector<std::string> domains;  // empty: all
  uint64_t seed = 0;                 // of the random pauses
};

// Keeps a stream of policies open on somebody else's completion queue: when it
// ends, another is opened after a pause, which grows from 100 ms to 1 s while
// the service is gone, and is 10 s where it does not want to. One operation is
// under way at any time, whose tag is this object. Thread-compatible: after
// Start it lives on the queue's thread.
class PolicyStream {
 public:
  // All must outlive it, and the queue be drained before it goes.
  PolicyStream(v1::RateLimiter::Stub& stub, grpc::CompletionQueue& queue,
               PolicyStreamOptions options, PolicyHandler& handler);

  void Start() { Open(); }
  // The operation that was under way is done.
  void On(bool ok);
  // Ends what is under way; after that nothing is.
  void Stop();

 private:
  enum class Step { kOpening, kReading, kFinishing, kPausing };

  void Open();
  void Read();
  // Takes the message that was read; false if it is of no use.
  bool Take();
  void Finish();
  void Pause();

  v1::RateLimiter::Stub& stub_;
  grpc::CompletionQueue& queue_;
  v1::WatchPolicyRequest request_;
  PolicyHandler& handler_;
  Backoff backoff_;
  Backoff unwanted_;  // between streams that the service refuses
  Random random_;

  bool stopped_ = false;
  Step step_ = Step::kPausing;
  // Of the stream that is open.
  std::optional<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientAsyncReader<v1::Policy>> stream_;
  std::optional<PolicyReader> reader_;
  v1::Policy message_;
  absl::Status bad_message_;
  grpc::Status end_;
  grpc::Alarm pause_;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_POLICY_STREAM_H_
