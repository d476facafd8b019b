#ifndef TOLLGATE_CLIENT_GRPC_SERVICE_LIMITER_H_
#define TOLLGATE_CLIENT_GRPC_SERVICE_LIMITER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/client.h"
#include "client/decision.h"
#include "client/request.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/status.h"

namespace tollgate::client {

// What of a call describes it, as entries of one descriptor.
struct ServiceLimiterOptions {
  // The namespace of rules. Not empty.
  std::string domain;
  // The entry that has the method's name; empty: none.
  std::string method_entry = "method";
  // The entry that has the peer's address; empty: none. Not of use behind a
  // proxy, which is then the peer of all.
  std::string peer_entry = "ip";
  // Metadata keys (lower case) whose first value becomes an entry, and its
  // name: {"x-api-key", "api_key"}. A call without the key has no such entry.
  std::vector<std::pair<std::string, std::string>> metadata;
};

// A call's permission. While it lives, it holds the slots that concurrency
// rules gave the call; its end gives them back. Movable; thread-compatible.
class Admission {
 public:
  Admission(Client& client, Decision decision)
      : client_(&client), decision_(std::move(decision)) {}
  ~Admission() { Release(); }
  Admission(Admission&& other) noexcept
      : client_(other.client_), decision_(std::move(other.decision_)) {
    other.decision_.ticket.clear();
  }
  Admission& operator=(Admission&& other) noexcept {
    Release();
    client_ = other.client_;
    decision_ = std::exchange(other.decision_, Decision());
    return *this;
  }

  [[nodiscard]] bool ok() const { return decision_.allowed; }
  // OK, or what to answer the call: see RefusalStatus.
  [[nodiscard]] grpc::Status status() const;
  // As the client gave it. Its delay, which rules that shape ask for, is the
  // service's to keep.
  [[nodiscard]] const Decision& decision() const { return decision_; }

 private:
  void Release() { client_->Release(decision_.ticket); }

  Client* client_;
  Decision decision_;
};

// Limits the calls of a gRPC service. First in each method:
//
//   const auto admission = limiter.Admit(*context, "SayHello");
//   if (!admission.ok()) return admission.status();
//
// It works alike for the synchronous, callback and completion queue APIs; for
// all methods of a synchronous service at once there is LimitedService. It is
// no interceptor: those of gRPC see a call, but cannot end it before its
// handler has done the work. Thread-safe.
class ServiceLimiter {
 public:
  // `client` must outlive it and its admissions.
  ServiceLimiter(Client& client, ServiceLimiterOptions options)
      : client_(client), options_(std::move(options)) {}

  // Asks for `cost` tokens, and blocks at most the client's timeout. A refusal
  // also adds the pushback to the call's trailing metadata. Where the service
  // is gone, the client's outage policy has decided.
  [[nodiscard]] Admission Admit(grpc::ServerContextBase& context,
                                absl::string_view method, uint32_t cost = 1);

  // As Admit, without blocking; for handlers that must not. `context` must live
  // until `then` is called: as in Client::ShouldAllowAsync.
  void AdmitAsync(grpc::ServerContextBase& context, absl::string_view method,
                  std::function<void(Admission)> then, uint32_t cost = 1);

 private:
  [[nodiscard]] Request Describe(const grpc::ServerContextBase& context,
                                 absl::string_view method, uint32_t cost) const;

  Client& client_;
  const ServiceLimiterOptions options_;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_GRPC_SERVICE_LIMITER_H_
