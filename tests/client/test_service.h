#ifndef TOLLGATE_TESTS_CLIENT_TEST_SERVICE_H_
#define TOLLGATE_TESTS_CLIENT_TEST_SERVICE_H_

#include <grpcpp/grpcpp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "tollgate/v1/rate_limiter.grpc.pb.h"

namespace tollgate {

// A service in this process that answers as `decide` says, by default allowed.
class TestService final : public v1::RateLimiter::Service {
 public:
  using Decide = std::function<grpc::Status(const v1::ShouldAllowRequest&,
                                            v1::ShouldAllowResponse&)>;

  explicit TestService(Decide decide = nullptr) : decide_(std::move(decide)) {}

  grpc::Status ShouldAllow(grpc::ServerContext* /*context*/,
                           const v1::ShouldAllowRequest* request,
                           v1::ShouldAllowResponse* response) override {
    return Answer(*request, *response);
  }

  grpc::Status ShouldAllowBatch(
      grpc::ServerContext* /*context*/,
      const v1::ShouldAllowBatchRequest* request,
      v1::ShouldAllowBatchResponse* response) override {
    for (const v1::ShouldAllowRequest& one : request->requests()) {
      v1::BatchAnswer* answer = response->add_answers();
      const grpc::Status status = Answer(one, *answer->mutable_decision());
      if (!status.ok()) {
        answer->mutable_error()->set_code(status.error_code());
        answer->mutable_error()->set_message(status.error_message());
      }
    }
    return grpc::Status::OK;
  }

  grpc::Status Release(grpc::ServerContext* /*context*/,
                       const v1::ReleaseRequest* request,
                       v1::ReleaseResponse* /*response*/) override {
    return on_release ? on_release(*request) : grpc::Status::OK;
  }
  grpc::Status Refund(grpc::ServerContext* /*context*/,
                      const v1::RefundRequest* request,
                      v1::RefundResponse* /*response*/) override {
    return on_refund ? on_refund(*request) : grpc::Status::OK;
  }

  // Set before Listen.
  std::function<grpc::Status(const v1::ReleaseRequest&)> on_release;
  std::function<grpc::Status(const v1::RefundRequest&)> on_refund;

  // Listens at `port`, or any free one for 0. Null if it cannot.
  std::unique_ptr<grpc::Server> Listen(int port = 0,
                                       const std::string& host = "127.0.0.1") {
    grpc::ServerBuilder builder;
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddListeningPort(absl::StrCat(host, ":", port),
                             grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    return builder.BuildAndStart();
  }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string target() const {
    return absl::StrCat("127.0.0.1:", port_);
  }
  [[nodiscard]] int calls() const { return calls_; }

 private:
  grpc::Status Answer(const v1::ShouldAllowRequest& request,
                      v1::ShouldAllowResponse& response) {
    ++calls_;
    response.set_outcome(v1::ALLOWED);
    return decide_ ? decide_(request, response) : grpc::Status::OK;
  }

  const Decide decide_;
  int port_ = 0;
  std::atomic<int> calls_{0};
};

// A loopback port that is taken but does not answer: without `Listen`,
// connections are refused; with it they are made and then nothing is said.
class DeafPort {
 public:
  DeafPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, generic, size) != 0 ||
        ::getsockname(socket_, generic, &size) != 0) {
      return;
    }
    port_ = ntohs(address.sin_port);
  }
  ~DeafPort() { ::close(socket_); }
  DeafPort(const DeafPort&) = delete;
  DeafPort& operator=(const DeafPort&) = delete;

  void Listen() const { ::listen(socket_, 16); }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string target() const {
    return absl::StrCat("127.0.0.1:", port_);
  }

 private:
  const int socket_;
  int port_ = 0;
};

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_CLIENT_TEST_SERVICE_H_
