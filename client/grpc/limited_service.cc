#include "client/grpc/limited_service.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "grpc/support/time.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/impl/rpc_method.h"
#include "grpcpp/impl/rpc_service_method.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/method_handler.h"
#include "grpcpp/support/sync_stream.h"

namespace tollgate::client {
namespace {

using google::protobuf::MessageLite;
using grpc::internal::MethodHandler;
using grpc::internal::RpcMethod;

// Waits for what a rule that shapes asks for. False if the caller has given up
// meanwhile, which is looked at every now and then.
bool KeepDelay(absl::Duration delay, const grpc::ServerContextBase& context) {
  if (delay <= absl::ZeroDuration()) return true;
  constexpr absl::Duration kLook = absl::Milliseconds(100);
  grpc::CompletionQueue nothing;  // will come, so this waits
  void* tag = nullptr;
  bool ok = false;
  for (; delay > absl::ZeroDuration(); delay -= kLook) {
    if (context.IsCancelled()) return false;
    nothing.AsyncNext(
        &tag, &ok,
        gpr_time_from_nanos(absl::ToInt64Nanoseconds(std::min(delay, kLook)),
                            GPR_TIMESPAN));
  }
  return !context.IsCancelled();
}

// Ends a call with `status`, of whatever kind it is: for a handler that streams
// both ways, a call that reads and writes nothing is like any other.
void End(const grpc::Status& status,
         const MethodHandler::HandlerParameter& call) {
  using Stream = grpc::ServerReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;
  grpc::internal::TemplatedBidiStreamingHandler<Stream, false> handler(
      [&](grpc::ServerContext*, Stream*) { return status; });
  handler.RunHandler(call);
}

// Asks before another handler may have a call.
class LimitedHandler final : public MethodHandler {
 public:
  LimitedHandler(MethodHandler& handler, std::string method,
                 ServiceLimiter& limiter)
      : handler_(handler), method_(std::move(method)), limiter_(limiter) {}

  void RunHandler(const HandlerParameter& call) override {
    if (!call.status.ok()) return handler_.RunHandler(call);
    const Admission admission = limiter_.Admit(*call.server_context, method_);
    grpc::Status status = admission.status();
    if (status.ok() &&
        !KeepDelay(admission.decision().delay, *call.server_context)) {
      status = grpc::Status::CANCELLED;
    }
    if (status.ok()) return handler_.RunHandler(call);
    // What the handler has read is its to destroy, in RunHandler. It is a
    // message, which Make has seen to begin with its base.
    if (call.request != nullptr) {
      static_cast<MessageLite*>(call.request)->~MessageLite();
    }
    End(status, call);
  }

  void* Deserialize(grpc_call* call, grpc_byte_buffer* bytes,
                    grpc::Status* status, void** data) override {
    return handler_.Deserialize(call, bytes, status, data);
  }

 private:
  MethodHandler& handler_;
  const std::string method_;
  ServiceLimiter& limiter_;
};

// The handlers of another service, which a service may look at in itself.
class Handlers final : public grpc::Service {
 public:
  static MethodHandler& Of(grpc::Service& service, int method) {
    return *(service.*(&Handlers::GetHandler))(method);
  }
};

RpcMethod::RpcType TypeOf(const google::protobuf::MethodDescriptor& method) {
  if (method.client_streaming()) {
    return method.server_streaming() ? RpcMethod::BIDI_STREAMING
                                     : RpcMethod::CLIENT_STREAMING;
  }
  return method.server_streaming() ? RpcMethod::SERVER_STREAMING
                                   : RpcMethod::NORMAL_RPC;
}

// Whether a pointer to a message of that type is one to its base too.
bool BeginsWithItsBase(const google::protobuf::Descriptor& type) {
  const google::protobuf::Message* const message =
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(
          &type);
  return message != nullptr &&
         dynamic_cast<const void*>(message) ==
             static_cast<const void*>(static_cast<const MessageLite*>(message));
}

}  // namespace

absl::StatusOr<std::unique_ptr<LimitedService>> LimitedService::Make(
    const std::string& name, grpc::Service& service, ServiceLimiter& limiter) {
  const auto* const described =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(
          name);
  if (described == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("service: got ", name,
                     ", want one whose generated messages are linked"));
  }
  if (service.has_async_methods() || service.has_callback_methods() ||
      service.has_generic_methods()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "service: got ", name,
        " with callback, completion queue or generic methods, want all "
        "synchronous"));
  }
  auto limited = absl::WrapUnique(new LimitedService());
  for (int i = 0; i < described->method_count(); ++i) {
    const google::protobuf::MethodDescriptor& method = *described->method(i);
    if (!BeginsWithItsBase(*method.input_type())) {
      return absl::InvalidArgumentError(
          absl::StrCat("service: got ", method.full_name(), " of ",
                       method.input_type()->full_name(),
                       ", want a message of generated code"));
    }
    limited->names_.push_back(std::make_unique<std::string>(
        absl::StrCat("/", name, "/", method.name())));
    auto handler = std::make_unique<LimitedHandler>(Handlers::Of(service, i),
                                                    method.name(), limiter);
    limited->AddMethod(new grpc::internal::RpcServiceMethod(
        limited->names_.back()->c_str(), TypeOf(method), handler.release()));
  }
  return limited;
}

}  // namespace tollgate::client
