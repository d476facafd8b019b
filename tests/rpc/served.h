#ifndef TOLLGATE_TESTS_RPC_SERVED_H_
#define TOLLGATE_TESTS_RPC_SERVED_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/memory_store.h"
#include "tests/rpc/fakes.h"
#include "tollgate/v1/admin.grpc.pb.h"
#include "tollgate/v1/rate_limiter.grpc.pb.h"

namespace tollgate {

// Sets a deadline that only a hanging test meets.
inline void SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(20));
}

inline grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

inline std::string ToBytes(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  if (!buffer.DumpToSingleSlice(&slice).ok()) return "";
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

// A server of ours on a port of its own, with a limiter whose time stands
// still, and a client of it.
struct Served {
  FakeClock clock{kStartNs};
  FakeClock fake_steady{0};
  SteadyClock real_steady;
  CountingObserver observer;
  Gate gate;
  Limiter limiter{clock, LimiterOptions{.observer = &gate}};
  MemoryStore store{limiter};
  std::unique_ptr<RpcServer> server;
  int port = 0;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::RateLimiter::Stub> stub;

  enum class Steady { kReal, kFake };

  // Where the buckets live: in the limiter, unless `store_of` says otherwise.
  using StoreOf = std::function<BucketStore&(Limiter&)>;

  // `other_steady`, if any, is the steady clock instead.
  explicit Served(uint64_t tokens = 2, RpcServerOptions options = {},
                  Steady steady = Steady::kReal,
                  const StoreOf& store_of = nullptr,
                  const Clock* other_steady = nullptr) {
    SetPerUser(limiter, tokens);
    options.listen = "127.0.0.1:0";
    const Clock* steady_clock = &real_steady;
    if (steady == Steady::kFake) steady_clock = &fake_steady;
    if (other_steady != nullptr) steady_clock = other_steady;
    server = MakeRpcServer(options, limiter,
                           store_of == nullptr ? store : store_of(limiter),
                           clock, *steady_clock, observer);
    const absl::StatusOr<int> bound = server->Start();
    EXPECT_TRUE(bound.ok()) << bound.status();
    port = bound.value_or(0);
    channel = Connect();
    stub = v1::RateLimiter::NewStub(channel);
  }

  // A connection of its own.
  [[nodiscard]] std::shared_ptr<grpc::Channel> Connect() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", port),
                                     grpc::InsecureChannelCredentials(),
                                     arguments);
  }

  grpc::Status Ask(const v1::ShouldAllowRequest& request,
                   v1::ShouldAllowResponse& response) const {
    grpc::ClientContext context;
    SetDeadline(context);
    return stub->ShouldAllow(&context, request, &response);
  }
  // The answer, which must come.
  [[nodiscard]] v1::ShouldAllowResponse Ask(
      const v1::ShouldAllowRequest& request) const {
    v1::ShouldAllowResponse response;
    const grpc::Status status = Ask(request, response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  // Sends `bytes` as the message of a unary method.
  grpc::Status AskRaw(const std::string& method, const std::string& bytes,
                      std::string* answer = nullptr) const {
    grpc::GenericStub generic(channel);
    grpc::CompletionQueue queue;
    grpc::ClientContext context;
    SetDeadline(context);
    const auto call =
        generic.PrepareUnaryCall(&context, method, ToBuffer(bytes), &queue);
    call->StartCall();
    grpc::ByteBuffer response;
    grpc::Status status;
    call->Finish(&response, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    if (answer != nullptr && status.ok()) *answer = ToBytes(response);
    return status;
  }
};

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_RPC_SERVED_H_
