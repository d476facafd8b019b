// A real gRPC service, limited as a whole, over real connections.
#include "client/grpc/limited_service.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"
#include "tests/client/grpc/echo.grpc.pb.h"
#include "tests/client/test_service.h"
#include "tests/support/status_matchers.h"
#include "tollgate/v1/status_details.pb.h"

namespace tollgate::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::Echo;
using tests::Text;

// Knows nothing of limits.
class EchoService final : public Echo::Service {
 public:
  grpc::Status Once(grpc::ServerContext* /*context*/, const Text* request,
                    Text* response) override {
    ++entered;
    *response = *request;
    return {grpc::StatusCode::OK, ""};
  }
  grpc::Status Gather(grpc::ServerContext* /*context*/,
                      grpc::ServerReader<Text>* reader,
                      Text* response) override {
    ++entered;
    for (Text text; reader->Read(&text);)
      *response->mutable_text() += text.text();
    return grpc::Status::OK;
  }
  grpc::Status Spread(grpc::ServerContext* /*context*/, const Text* request,
                      grpc::ServerWriter<Text>* writer) override {
    ++entered;
    for (int i = 0; i < 3; ++i) writer->Write(*request);
    return {grpc::StatusCode::ABORTED, "on purpose"};
  }
  grpc::Status Talk(grpc::ServerContext* /*context*/,
                    grpc::ServerReaderWriter<Text, Text>* stream) override {
    ++entered;
    for (Text text; stream->Read(&text);) stream->Write(text);
    return grpc::Status::OK;
  }

  std::atomic<int> entered{0};
};

template <typename Condition>
bool Eventually(const Condition& condition) {
  const SteadyClock clock;
  const int64_t until_ns = clock.NowNs() + 30'000'000'000;
  while (!condition()) {
    if (clock.NowNs() > until_ns) return false;
    std::this_thread::yield();
  }
  return true;
}

// The limited service, the Tollgate that it asks, and who calls it.
class LimitedServiceTest : public testing::Test {
 protected:
  ~LimitedServiceTest() override {
    if (server_ != nullptr) server_->Shutdown();
  }

  void Start(TestService::Decide decide) {
    tollgate_.emplace([this, decide = std::move(decide)](const auto& request,
                                                         auto& response) {
      MutexLock lock(mutex_);
      asked_.push_back(request.descriptors(0).entries(0).value());
      return decide(request, response);
    });
    tollgate_->on_release = [this](const v1::ReleaseRequest& request) {
      MutexLock lock(mutex_);
      released_.push_back(request.ticket());
      return grpc::Status::OK;
    };
    tollgate_server_ = tollgate_->Listen();
    ClientOptions options;
    options.target = tollgate_->target();
    options.timeout = absl::Seconds(10);
    options.refusal_cache_ttl = absl::ZeroDuration();
    client_ = *Client::Create(options);
    ServiceLimiterOptions limits;
    limits.domain = "shop";
    limiter_.emplace(*client_, limits);
    auto limited = LimitedService::Create<Echo>(echo_, *limiter_);
    ASSERT_THAT(limited.status(), IsOk());
    limited_ = *std::move(limited);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port);
    builder.RegisterService(limited_.get());
    server_ = builder.BuildAndStart();
    channel_ = grpc::CreateChannel(absl::StrCat("127.0.0.1:", port),
                                   grpc::InsecureChannelCredentials());
    stub_ = Echo::NewStub(channel_);
  }
  void StartAllowing() {
    Start([](const auto&, auto&) { return grpc::Status::OK; });
  }
  void StartRefusing() {
    Start([](const auto&, auto& response) {
      response.set_outcome(v1::REFUSED);
      response.mutable_retry_after()->set_nanos(1'500'000);
      return grpc::Status::OK;
    });
  }

  // Each calls with a message that does not fit into a string itself.
  grpc::Status Once(grpc::ClientContext& context) {
    Text answer;
    const grpc::Status status = stub_->Once(&context, Long(), &answer);
    if (status.ok()) {
      EXPECT_EQ(answer.text(), Long().text());
    }
    return status;
  }
  grpc::Status Gather(grpc::ClientContext& context) {
    Text answer;
    const auto writer = stub_->Gather(&context, &answer);
    for (int i = 0; i < 3; ++i) writer->Write(Long());
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    if (status.ok()) {
      EXPECT_EQ(answer.text().size(), 3 * Long().text().size());
    }
    return status;
  }
  grpc::Status Spread(grpc::ClientContext& context) {
    const auto reader = stub_->Spread(&context, Long());
    int read = 0;
    for (Text text; reader->Read(&text);) ++read;
    const grpc::Status status = reader->Finish();
    if (status.error_code() == grpc::StatusCode::ABORTED) {
      EXPECT_EQ(read, 3);
    }
    return status;
  }
  grpc::Status Talk(grpc::ClientContext& context) {
    const auto stream = stub_->Talk(&context);
    Text text;
    if (stream->Write(Long()) && stream->Read(&text)) {
      EXPECT_EQ(text.text(), Long().text());
    }
    stream->WritesDone();
    return stream->Finish();
  }
  static Text Long() {
    Text text;
    text.set_text(std::string(1000, 'x'));
    return text;
  }

  std::vector<std::string> asked() {
    MutexLock lock(mutex_);
    return asked_;
  }
  std::vector<std::string> released() {
    MutexLock lock(mutex_);
    return released_;
  }

  EchoService echo_;
  std::unique_ptr<Echo::Stub> stub_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<grpc::Server> server_;

 private:
  Mutex mutex_;
  std::vector<std::string> asked_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> released_ ABSL_GUARDED_BY(mutex_);
  std::optional<TestService> tollgate_;
  std::unique_ptr<grpc::Server> tollgate_server_;
  std::unique_ptr<Client> client_;
  std::optional<ServiceLimiter> limiter_;
  std::unique_ptr<LimitedService> limited_;
};

TEST_F(LimitedServiceTest, AsksBeforeACallOfEachKindAndLetsItThrough) {
  StartAllowing();
  grpc::ClientContext once;
  EXPECT_TRUE(Once(once).ok());
  grpc::ClientContext gather;
  EXPECT_TRUE(Gather(gather).ok());
  grpc::ClientContext spread;
  EXPECT_EQ(Spread(spread).error_message(), "on purpose");
  grpc::ClientContext talk;
  EXPECT_TRUE(Talk(talk).ok());
  EXPECT_EQ(echo_.entered, 4);
  EXPECT_THAT(asked(), ElementsAre("Once", "Gather", "Spread", "Talk"));
}

TEST_F(LimitedServiceTest, NoCallThatIsRefusedEntersItsMethod) {
  StartRefusing();
  using Call = std::function<grpc::Status(grpc::ClientContext&)>;
  for (const Call& call : {Call([this](auto& c) { return Once(c); }),
                           Call([this](auto& c) { return Gather(c); }),
                           Call([this](auto& c) { return Spread(c); }),
                           Call([this](auto& c) { return Talk(c); })}) {
    grpc::ClientContext context;
    const grpc::Status status = call(context);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    v1::RpcStatus details;
    ASSERT_TRUE(details.ParseFromString(status.error_details()));
    ASSERT_EQ(details.details_size(), 1);
    v1::RpcRetryInfo retry;
    ASSERT_TRUE(retry.ParseFromString(details.details(0).value()));
    EXPECT_EQ(retry.retry_delay().nanos(), 1'500'000);
    const auto& trailing = context.GetServerTrailingMetadata();
    const auto pushback = trailing.find("grpc-retry-pushback-ms");
    ASSERT_NE(pushback, trailing.end());
    EXPECT_EQ(pushback->second, "2");
  }
  EXPECT_EQ(echo_.entered, 0);
  EXPECT_EQ(asked().size(), 4);
}

TEST_F(LimitedServiceTest, AStreamHoldsItsSlotsUntilItEnds) {
  Start([](const auto&, auto& response) {
    response.set_ticket("a ticket");
    return grpc::Status::OK;
  });
  grpc::ClientContext context;
  const auto stream = stub_->Talk(&context);
  Text text;
  ASSERT_TRUE(stream->Write(Long()) && stream->Read(&text));
  EXPECT_THAT(released(), ElementsAre());
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_TRUE(Eventually([&] { return released().size() == 1; }));
  EXPECT_THAT(released(), ElementsAre("a ticket"));
}

TEST_F(LimitedServiceTest, WhatCannotBeReadIsAnErrorWithoutAsking) {
  StartAllowing();
  grpc::GenericStub stub(channel_);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  grpc::Slice slice("\x0A\xFFno text is that long");
  const grpc::ByteBuffer request(&slice, 1);
  const auto call = stub.PrepareUnaryCall(&context, "/tollgate.tests.Echo/Once",
                                          request, &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, this);
  void* tag = nullptr;
  bool ok = false;
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(echo_.entered, 0);
  EXPECT_THAT(asked(), ElementsAre());
}

TEST_F(LimitedServiceTest, KeepsTheDelayThatARuleAsksFor) {
  Start([](const auto&, auto& response) {
    response.mutable_delay()->set_nanos(250'000'000);
    return grpc::Status::OK;
  });
  const SteadyClock clock;
  const int64_t start_ns = clock.NowNs();
  grpc::ClientContext context;
  EXPECT_TRUE(Once(context).ok());
  EXPECT_GE(clock.NowNs() - start_ns, 250'000'000);
  EXPECT_EQ(echo_.entered, 1);
}

TEST_F(LimitedServiceTest, DropsACallWhoseCallerGivesUpDuringTheDelay) {
  Start([](const auto&, auto& response) {
    response.mutable_delay()->set_seconds(3600);
    return grpc::Status::OK;
  });
  grpc::ClientContext context;
  std::thread caller([&] {
    EXPECT_EQ(Once(context).error_code(), grpc::StatusCode::CANCELLED);
  });
  EXPECT_TRUE(Eventually([&] { return asked().size() == 1; }));
  context.TryCancel();
  caller.join();
  server_->Shutdown();
  server_->Wait();  // for the call too
  EXPECT_EQ(echo_.entered, 0);
}

TEST_F(LimitedServiceTest, ManyThreadsAreEachAnsweredAsTheirs) {
  std::atomic<int> asked{0};
  Start([&](const auto&, auto& response) {
    if (asked++ % 2 == 1) response.set_outcome(v1::REFUSED);
    return grpc::Status::OK;
  });
  std::atomic<int> passed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        grpc::ClientContext context;
        if (Once(context).ok()) ++passed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(passed, 100);
  EXPECT_EQ(echo_.entered, 100);
}

TEST(LimitedService, IsNotForMethodsOfAnotherApi) {
  const auto client = *Client::Create({});
  ServiceLimiter limiter(*client, {});
  Echo::AsyncService async;
  EXPECT_THAT(
      LimitedService::Create<Echo>(async, limiter).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("synchronous")));
  Echo::WithCallbackMethod_Talk<Echo::Service> callback;
  EXPECT_THAT(
      LimitedService::Create<Echo>(callback, limiter).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("synchronous")));
}

}  // namespace
}  // namespace tollgate::client
