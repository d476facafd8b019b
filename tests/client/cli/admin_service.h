#ifndef TOLLGATE_TESTS_CLIENT_CLI_ADMIN_SERVICE_H_
#define TOLLGATE_TESTS_CLIENT_CLI_ADMIN_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/base/mutex.h"
#include "tollgate/v1/admin.grpc.pb.h"

namespace tollgate::cli {

// An Admin in this process that keeps what it was asked, and gives the answers
// that a test put here before it listens.
class AdminService final : public v1::Admin::Service {
 public:
  AdminService() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }

  grpc::Status GetRules(grpc::ServerContext* /*context*/,
                        const v1::GetRulesRequest* request,
                        v1::GetRulesResponse* response) override {
    return Answer(*request, get_rules, *response, rules);
  }
  grpc::Status Explain(grpc::ServerContext* /*context*/,
                       const v1::ExplainRequest* request,
                       v1::ExplainResponse* response) override {
    return Answer(*request, explain, *response, explanation);
  }
  grpc::Status PeekBucket(grpc::ServerContext* /*context*/,
                          const v1::PeekBucketRequest* request,
                          v1::PeekBucketResponse* response) override {
    return Answer(*request, peek, *response, buckets);
  }
  grpc::Status ResetBucket(grpc::ServerContext* /*context*/,
                           const v1::ResetBucketRequest* request,
                           v1::ResetBucketResponse* response) override {
    return Answer(*request, reset, *response, count);
  }

  grpc::Status TopRefused(grpc::ServerContext* /*context*/,
                          const v1::TopRefusedRequest* request,
                          v1::TopRefusedResponse* response) override {
    return Answer(*request, top, *response, refused);
  }

  [[nodiscard]] std::string target() const {
    return absl::StrCat("127.0.0.1:", port_);
  }

  // The network orders the threads that use these; the race detector cannot
  // see that, so they are used under the mutex.
  Mutex mutex;
  v1::GetRulesRequest get_rules;
  v1::ExplainRequest explain;
  v1::PeekBucketRequest peek;
  v1::ResetBucketRequest reset;
  v1::TopRefusedRequest top;
  v1::GetRulesResponse rules;
  v1::ExplainResponse explanation;
  v1::PeekBucketResponse buckets;
  v1::ResetBucketResponse count;
  v1::TopRefusedResponse refused;
  grpc::Status status;

 private:
  template <typename Request, typename Response>
  grpc::Status Answer(const Request& request, Request& kept, Response& response,
                      const Response& given) {
    const MutexLock lock(mutex);
    kept = request;
    response = given;
    return status;
  }

  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace tollgate::cli

#endif  // TOLLGATE_TESTS_CLIENT_CLI_ADMIN_SERVICE_H_
