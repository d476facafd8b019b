#ifndef TOLLGATE_SERVER_RPC_METHODS_H_
#define TOLLGATE_SERVER_RPC_METHODS_H_

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "grpcpp/grpcpp.h"
#include "server/base/finish.h"
#include "server/rpc/call.h"

namespace tollgate {

// What a handler's member function says of its method: one that is over when
// it returns, or one that says when it is.
template <typename T>
struct Handling;
template <typename H, typename Req, typename Resp>
struct Handling<absl::Status (H::*)(const Req&, int64_t, Resp&)> {
  using Request = Req;
  using Response = Resp;
  static constexpr bool kFinishes = false;
  static constexpr bool kChecksDomains = false;
};
template <typename H, typename Req, typename Resp>
struct Handling<void (H::*)(const Req&, int64_t, Resp&, Finish)> {
  using Request = Req;
  using Response = Resp;
  static constexpr bool kFinishes = true;
  static constexpr bool kChecksDomains = false;
};

template <typename H, typename Req, typename Resp>
struct Handling<void (H::*)(const Req&, int64_t, DomainCheck, Resp&, Finish)> {
  using Request = Req;
  using Response = Resp;
  static constexpr bool kFinishes = true;
  static constexpr bool kChecksDomains = true;
};

// What asks is turned away first. What gives back would be lost to others for
// as long as a lease takes.
enum class MethodKind { kAsks, kGivesBack, kAdmin };

// One RPC: the service and its function that waits for a call, the handler and
// its function that answers, how many calls wait on each queue, the bytes that
// a request and its answer mostly take, and whether it asks for something.
template <auto kService, auto kWait, auto kHandler, auto kAnswer,
          size_t kPostedCalls, size_t kBytes, MethodKind kKind>
struct Method {
  using Request = typename Handling<decltype(kAnswer)>::Request;
  using Response = typename Handling<decltype(kAnswer)>::Response;
  static constexpr size_t kPosted = kPostedCalls;
  static constexpr size_t kArenaBytes = kBytes;
  static constexpr bool kIsAdmin = kKind == MethodKind::kAdmin;
  static constexpr bool kAsks = kKind == MethodKind::kAsks;
  // Whether a request is about one domain, which its peer must be allowed.
  static constexpr bool kIsOfDomain =
      !kIsAdmin && requires(const Request& request) {
    request.domain();
  };

  static void Post(Services& services, grpc::ServerContext& context,
                   Request& request,
                   grpc::ServerAsyncResponseWriter<Response>& responder,
                   grpc::ServerCompletionQueue& queue, Event* tag) {
    ((services.*kService).*kWait)(&context, &request, &responder, &queue,
                                  &queue, tag);
  }
  static void Handle(Handlers& handlers, const Request& request,
                     int64_t deadline_ns, DomainCheck check, Response& response,
                     Finish finish) {
    auto& handler = *(handlers.*kHandler);
    if constexpr (Handling<decltype(kAnswer)>::kChecksDomains) {
      (handler.*kAnswer)(request, deadline_ns, check, response,
                         std::move(finish));
    } else if constexpr (Handling<decltype(kAnswer)>::kFinishes) {
      (handler.*kAnswer)(request, deadline_ns, response, std::move(finish));
    } else {
      finish((handler.*kAnswer)(request, deadline_ns, response));
    }
  }
};

template <auto kWait, auto kAnswer, size_t kPosted,
          MethodKind kKind = MethodKind::kAsks, size_t kBytes = 4096>
using RateLimiterMethod =
    Method<&Services::rate_limiter, kWait, &Handlers::rate_limiter, kAnswer,
           kPosted, kBytes, kKind>;
template <auto kWait, auto kAnswer>
using AdminMethod = Method<&Services::admin, kWait, &Handlers::admin, kAnswer,
                           4, 4096, MethodKind::kAdmin>;

// Every RPC. Calls that wait for a peer are taken in turn: more of them than
// arrive at a time only means that each is cold in the cache when it is used.
// To add one, write its handler's function and a line here.
class AllCallPools {
 public:
  explicit AllCallPools(const CallContext& context)
      : AllCallPools(context, std::make_index_sequence<kCount>()) {}

  void PostAll() {
    std::apply([](auto&... pool) { (pool.PostAll(), ...); }, pools_);
  }
  void Stop() {
    std::apply([](auto&... pool) { (pool.Stop(), ...); }, pools_);
  }
  // As CallPool's.
  void DropUnread(int64_t arrived_ns) {
    std::apply([&](auto&... pool) { (pool.DropUnread(arrived_ns), ...); },
               pools_);
  }
  // Calls that have arrived and whose answer has not left.
  [[nodiscard]] size_t answering() const {
    return std::apply(
        [](const auto&... pool) { return (pool.answering() + ...); }, pools_);
  }

 private:
  using AdminService = v1::Admin::AsyncService;
  using GatewayService =
      envoy::service::ratelimit::v3::RateLimitService::AsyncService;
  using Pools = std::tuple<
      CallPool<RateLimiterMethod<&RateLimiterService::RequestShouldAllow,
                                 &MessageHandler::ShouldAllow, 32>>,
      CallPool<
          Method<&Services::gateway, &GatewayService::RequestShouldRateLimit,
                 &Handlers::gateway, &GatewayHandler::ShouldRateLimit, 32, 4096,
                 MethodKind::kAsks>>,
      CallPool<RateLimiterMethod<&RateLimiterService::RequestShouldAllowBatch,
                                 &MessageHandler::ShouldAllowBatch, 4,
                                 MethodKind::kAsks, size_t{64} * 1024>>,
      CallPool<RateLimiterMethod<&RateLimiterService::RequestRefund,
                                 &MessageHandler::Refund, 8,
                                 MethodKind::kGivesBack>>,
      CallPool<RateLimiterMethod<&RateLimiterService::RequestRelease,
                                 &MessageHandler::Release, 16,
                                 MethodKind::kGivesBack>>,
      CallPool<
          AdminMethod<&AdminService::RequestGetRules, &AdminHandler::GetRules>>,
      CallPool<
          AdminMethod<&AdminService::RequestExplain, &AdminHandler::Explain>>,
      CallPool<AdminMethod<&AdminService::RequestPeekBucket,
                           &AdminHandler::PeekBucket>>,
      CallPool<AdminMethod<&AdminService::RequestResetBucket,
                           &AdminHandler::ResetBucket>>,
      CallPool<AdminMethod<&AdminService::RequestTopRefused,
                           &AdminHandler::TopRefused>>>;
  static constexpr size_t kCount = std::tuple_size_v<Pools>;

  // A pool cannot be copied, so each is made in its place from the context.
  template <size_t... kIndex>
  AllCallPools(const CallContext& context, std::index_sequence<kIndex...>)
      : pools_((static_cast<void>(kIndex), context)...) {}

  Pools pools_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_METHODS_H_
