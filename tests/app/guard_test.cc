// Clients that send much, to a server with its default flags: none is taken for
// a flood.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "server/app/server_app.h"
#include "tests/app/two_rules.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tcp_client.h"
#include "tests/support/temp_files.h"
#include "tollgate/v1/rate_limiter.grpc.pb.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A server, and a connection to it.
struct Guarded {
  TempFiles files;
  std::unique_ptr<ServerApp> app;
  std::unique_ptr<v1::RateLimiter::Stub> stub;

  Guarded() {
    ServerOptions options;
    options.rules = files.Write("rules.yaml", kTwoRules);
    options.listen = "127.0.0.1:0";
    options.http_listen = "127.0.0.1:0";
    auto started = StartServerApp(options);
    EXPECT_THAT(started, IsOk());
    app = *std::move(started);
    stub = v1::RateLimiter::NewStub(
        grpc::CreateChannel(absl::StrCat("127.0.0.1:", app->grpc_port()),
                            grpc::InsecureChannelCredentials()));
  }

  void ExpectNobodyCut() const {
    EXPECT_THAT(
        AskHttp(app->http_port(), "GET", "/metrics"),
        AllOf(HasSubstr(
                  "tollgate_connections_killed_total{reason=\"flood\"} 0\n"),
              HasSubstr(
                  "tollgate_connections_refused_total{reason=\"flood\"} 0\n")));
  }
};

void SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(30));
}

// As large as a message may be.
v1::ShouldAllowBatchRequest FullMessage() {
  constexpr size_t kMessageBytes = 64 * 1024;
  v1::ShouldAllowBatchRequest batch;
  std::string* last = nullptr;
  for (int i = 0; i < 16; ++i) {
    v1::ShouldAllowRequest& request = *batch.add_requests();
    request.set_domain("shop");
    v1::Entry& entry = *request.add_descriptors()->add_entries();
    entry.set_key("user");
    last = entry.mutable_value();
    last->assign(4000, 'x');
  }
  last->append(kMessageBytes - batch.ByteSizeLong(), 'x');
  EXPECT_EQ(batch.ByteSizeLong(), kMessageBytes);
  return batch;
}

// So many callers, each with one message after another on the connection that
// they share. How many calls failed.
int FailedCalls(v1::RateLimiter::Stub& stub, int callers, int calls) {
  const v1::ShouldAllowBatchRequest message = FullMessage();
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < callers; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < calls; ++call) {
        grpc::ClientContext context;
        SetDeadline(context);
        v1::ShouldAllowBatchResponse response;
        if (!stub.ShouldAllowBatch(&context, message, &response).ok()) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return failed;
}

TEST(Guard, LetsFullMessagesPassTwoAtATimeAndSoonFour) {
  const Guarded guarded;
  EXPECT_EQ(FailedCalls(*guarded.stub, /*callers=*/2, /*calls=*/10), 0);
  EXPECT_EQ(FailedCalls(*guarded.stub, /*callers=*/4, /*calls=*/50), 0);
  guarded.ExpectNobodyCut();
}

TEST(Guard, LetsFullMessagesOfManyNewConnectionsPass) {
  const Guarded guarded;
  for (int i = 0; i < 20; ++i) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto stub = v1::RateLimiter::NewStub(grpc::CreateCustomChannel(
        absl::StrCat("127.0.0.1:", guarded.app->grpc_port()),
        grpc::InsecureChannelCredentials(), arguments));
    EXPECT_EQ(FailedCalls(*stub, /*callers=*/2, /*calls=*/1), 0);
  }
  guarded.ExpectNobodyCut();
}

TEST(Guard, LetsManyStreamsOfPoliciesPass) {
  const Guarded guarded;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::Policy>>> streams;
  for (int i = 0; i < 500; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    SetDeadline(*contexts.back());
    streams.push_back(guarded.stub->WatchPolicy(contexts.back().get(), {}));
  }
  v1::Policy policy;
  for (const auto& stream : streams) EXPECT_TRUE(stream->Read(&policy));
  EXPECT_EQ(FailedCalls(*guarded.stub, /*callers=*/2, /*calls=*/10), 0);
  guarded.ExpectNobodyCut();
  for (const auto& context : contexts) context->TryCancel();
  for (const auto& stream : streams) {
    while (stream->Read(&policy)) {
    }
    (void)stream->Finish();
  }
}

}  // namespace
}  // namespace tollgate
