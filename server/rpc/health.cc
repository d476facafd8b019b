#include "server/rpc/health.h"

#include <functional>
#include <optional>
#include <utility>

#include "envoy/service/ratelimit/v3/rls.grpc.pb.h"
#include "server/rpc/call_context.h"
#include "server/rpc/event.h"
#include "tollgate/v1/admin.grpc.pb.h"
#include "tollgate/v1/rate_limiter.grpc.pb.h"

namespace tollgate {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

Health::Status Health::StatusOf(const std::string& service) const {
  using envoy::service::ratelimit::v3::RateLimitService;
  // "ratelimit" is what probes of Envoy's own rate limit service ask for.
  if (!service.empty() && service != v1::RateLimiter::service_full_name() &&
      service != v1::Admin::service_full_name() &&
      service != RateLimitService::service_full_name() &&
      service != "ratelimit") {
    return HealthCheckResponse::SERVICE_UNKNOWN;
  }
  return serving() ? HealthCheckResponse::SERVING
                   : HealthCheckResponse::NOT_SERVING;
}

// Waits for a peer, answers, waits for the next.
class HealthCalls::CheckCall final : public Event {
 public:
  explicit CheckCall(HealthCalls& calls) : calls_(calls) {}

  void Post() {
    answering_ = false;
    request_.Clear();
    context_.emplace();
    responder_.emplace(&*context_);
    calls_.service_.RequestCheck(&*context_, &request_, &*responder_,
                                 &calls_.queue_, &calls_.queue_, this);
  }

  void On(bool ok) override {
    if (answering_) {
      if (!calls_.stopped_) Post();
    } else if (ok) {  // otherwise the server shuts down
      answering_ = true;
      CreditPeer(*context_, request_.ByteSizeLong(), calls_.peers_);
      Answer();
    }
  }

 private:
  void Answer() {
    Health::Status status = calls_.health_.StatusOf(request_.service());
    if (status == HealthCheckResponse::SERVING && calls_.also_ != nullptr &&
        !calls_.also_()) {
      status = HealthCheckResponse::NOT_SERVING;
    }
    if (status == HealthCheckResponse::SERVICE_UNKNOWN) {
      responder_->FinishWithError(
          {grpc::StatusCode::NOT_FOUND, "service: not one of this server"},
          this);
      return;
    }
    HealthCheckResponse response;
    response.set_status(status);
    responder_->Finish(response, grpc::Status::OK, this);
  }

  HealthCalls& calls_;
  bool answering_ = false;
  HealthCheckRequest request_;
  std::optional<grpc::ServerContext> context_;
  std::optional<grpc::ServerAsyncResponseWriter<HealthCheckResponse>>
      responder_;
};

// One stream of statuses. It has at most one operation under way, and beside
// that an event for its end, after which it deletes itself.
class HealthCalls::WatchCall final : public Event {
 public:
  explicit WatchCall(HealthCalls& calls)
      : calls_(calls), ended_(*this), writer_(&context_) {
    context_.AsyncNotifyWhenDone(&ended_);
    calls_.service_.RequestWatch(&context_, &request_, &writer_, &calls_.queue_,
                                 &calls_.queue_, this);
  }
  ~WatchCall() override { calls_.watching_.erase(this); }

  void On(bool ok) override {
    busy_ = false;
    if (!started_) {
      if (!ok) {  // and so it has no end either
        delete this;
        return;
      }
      started_ = true;
      CreditPeer(context_, request_.ByteSizeLong(), calls_.peers_);
      calls_.watching_.insert(this);
      calls_.PostWatch();
    }
    Go();
  }

  // Sends what has not been sent; ends the stream once the server is about to
  // stop, so that it does not hold up the drain.
  void Go() {
    if (busy_) return;
    if (ended_.seen) {
      delete this;
      return;
    }
    if (finished_ || calls_.stopped_) return;
    const Health::Status status = calls_.health_.StatusOf(request_.service());
    if (status != sent_) {
      busy_ = true;
      sent_ = status;
      HealthCheckResponse response;
      response.set_status(status);
      writer_.Write(response, this);
    } else if (calls_.health_.stopping()) {
      busy_ = true;
      finished_ = true;
      writer_.Finish(
          {grpc::StatusCode::UNAVAILABLE, "the server is about to stop"}, this);
    }
  }

 private:
  struct Ended final : Event {
    explicit Ended(WatchCall& of) : call(of) {}
    void On(bool) override {
      seen = true;
      call.Go();
    }
    WatchCall& call;
    bool seen = false;
  };

  HealthCalls& calls_;
  bool busy_ = true;  // with the operation whose tag is this call
  bool started_ = false;
  bool finished_ = false;
  std::optional<Health::Status> sent_;
  Ended ended_;
  HealthCheckRequest request_;
  grpc::ServerContext context_;
  grpc::ServerAsyncWriter<HealthCheckResponse> writer_;
};

HealthCalls::HealthCalls(Service& service, grpc::ServerCompletionQueue& queue,
                         const Health& health, net::PeerLedger::Page& peers,
                         std::function<bool()> also)
    : service_(service),
      queue_(queue),
      health_(health),
      peers_(peers),
      also_(std::move(also)),
      check_(std::make_unique<CheckCall>(*this)) {}

HealthCalls::~HealthCalls() = default;

void HealthCalls::Post() {
  check_->Post();
  PostWatch();
}

void HealthCalls::PostWatch() {
  // Deletes itself at its end.
  if (!stopped_) new WatchCall(*this);  // NOLINT(*-owning-memory)
}

void HealthCalls::Announce() {
  // None is deleted meanwhile: one whose end has been seen is still here only
  // because an operation is under way.
  for (WatchCall* call : watching_) call->Go();
}

}  // namespace tollgate
