#include "client/policy_stream.h"

#include <grpc/support/time.h>

#include <utility>

namespace tollgate::client {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kUnwantedPauseNs = 10'000 * kMs;

// Whether the service, or what stands before it, says that it is not there,
// which may change at any moment.
bool MayComeBack(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE ||
         status.error_code() == grpc::StatusCode::CANCELLED ||
         status.error_code() == grpc::StatusCode::INTERNAL;
}

}  // namespace

PolicyStream::PolicyStream(v1::RateLimiter::Stub& stub,
                           grpc::CompletionQueue& queue,
                           PolicyStreamOptions options, PolicyHandler& handler)
    : stub_(stub),
      queue_(queue),
      handler_(handler),
      backoff_(100 * kMs, 1000 * kMs),
      unwanted_(kUnwantedPauseNs, kUnwantedPauseNs),
      random_(options.seed) {
  for (std::string& domain : options.domains) {
    request_.add_domains(std::move(domain));
  }
}

void PolicyStream::Open() {
  step_ = Step::kOpening;
  context_.emplace();
  reader_.emplace();
  bad_message_ = absl::OkStatus();
  stream_ = stub_.PrepareAsyncWatchPolicy(&*context_, request_, &queue_);
  stream_->StartCall(this);
}

void PolicyStream::On(bool ok) {
  // The queue takes no more operations.
  if (stopped_) return;
  switch (step_) {
    case Step::kOpening:
      return ok ? Read() : Finish();
    case Step::kReading:
      return ok && Take() ? Read() : Finish();
    case Step::kFinishing:
      return Pause();
    case Step::kPausing:
      return Open();
  }
}

void PolicyStream::Read() {
  step_ = Step::kReading;
  stream_->Read(&message_, this);
}

bool PolicyStream::Take() {
  absl::StatusOr<std::optional<PolicyUpdate>> update = reader_->Read(message_);
  message_.Clear();
  if (!update.ok()) {
    bad_message_ = update.status();
    context_->TryCancel();
    return false;
  }
  backoff_.Reset();
  if (update->has_value()) handler_.OnPolicy(**std::move(update));
  return true;
}

void PolicyStream::Finish() {
  step_ = Step::kFinishing;
  stream_->Finish(&end_, this);
}

void PolicyStream::Pause() {
  step_ = Step::kPausing;
  absl::Status why = bad_message_;
  if (why.ok()) {
    why = absl::Status(static_cast<absl::StatusCode>(end_.error_code()),
                       end_.error_message());
  }
  // A service that ends the stream in good order is about to stop, too.
  const bool soon = bad_message_.ok() && (end_.ok() || MayComeBack(end_));
  stream_.reset();
  context_.reset();
  handler_.OnPolicyLost(why);
  const int64_t pause_ns = (soon ? backoff_ : unwanted_).Next(random_.Next());
  pause_.Set(&queue_, gpr_time_from_nanos(pause_ns, GPR_TIMESPAN), this);
}

void PolicyStream::Stop() {
  stopped_ = true;
  if (context_.has_value()) context_->TryCancel();
  pause_.Cancel();
}

}  // namespace tollgate::client
