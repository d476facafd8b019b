// Input that no honest client sends: the process lives and nothing is taken.
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/rpc/served.h"
#include "tests/support/tcp_client.h"

namespace tollgate {
namespace {

constexpr char kShouldAllow[] = "/tollgate.v1.RateLimiter/ShouldAllow";

// That an honest client is answered, and that nobody took before it.
void ExpectAliveAndUntouched(const Served& served) {
  const v1::ShouldAllowResponse response = served.Ask(UserRequest("ana"));
  EXPECT_EQ(response.outcome(), v1::ALLOWED);
  EXPECT_EQ(response.statuses(0).remaining(), 1U);
}

TEST(RpcHostile, RefusesTextThatIsNotUtf8) {
  Served served(2);
  std::string bytes = UserRequest("an?").SerializeAsString();
  bytes[bytes.find('?')] = '\xFF';
  // The library refuses it while it parses, before we see a field to name.
  EXPECT_EQ(served.AskRaw(kShouldAllow, bytes).error_code(),
            grpc::StatusCode::INTERNAL);
  EXPECT_EQ(served.limiter.bucket_count(), 0U);
  ExpectAliveAndUntouched(served);
}

TEST(RpcHostile, RefusesAMessageThatIsNoProto) {
  Served served(2);
  EXPECT_FALSE(served.AskRaw(kShouldAllow, "\xFF\xFF\xFF\xFF").ok());
  EXPECT_FALSE(served.AskRaw(kShouldAllow, std::string(1000, '\x0A')).ok());
  ExpectAliveAndUntouched(served);
}

TEST(RpcHostile, KeepsPostingCallsThatNobodyCanParse) {
  Served served(2);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(served.AskRaw(kShouldAllow, "\xFF").ok());
  }
  ExpectAliveAndUntouched(served);
}

TEST(RpcHostile, RefusesAMessageOverTheSizeLimitAndNotOneBelow) {
  Served served(2, {.max_message_bytes = 8192});
  v1::ShouldAllowRequest request = UserRequest("bob");
  request.mutable_descriptors(0)->add_entries()->set_key("pad");
  const auto pad = [&](size_t total) {
    std::string& value =
        *request.mutable_descriptors(0)->mutable_entries(1)->mutable_value();
    // Into two values, since one may have 4096 bytes.
    value.assign(4096, 'x');
    if (request.descriptors(0).entries_size() == 2) {
      request.mutable_descriptors(0)->add_entries()->set_key("more");
    }
    std::string& more =
        *request.mutable_descriptors(0)->mutable_entries(2)->mutable_value();
    more.assign(3000, 'x');
    more.append(total - request.ByteSizeLong(), 'x');
  };
  pad(8192);
  ASSERT_EQ(request.ByteSizeLong(), 8192U);
  EXPECT_EQ(served.Ask(request).outcome(), v1::ALLOWED);
  pad(8193);
  ASSERT_EQ(request.ByteSizeLong(), 8193U);
  v1::ShouldAllowResponse response;
  EXPECT_EQ(served.Ask(request, response).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  ExpectAliveAndUntouched(served);
}

TEST(RpcHostile, SurvivesAMessageOfEmptyEntries) {
  Served served(2);
  v1::ShouldAllowRequest request;
  request.set_domain("shop");
  v1::Descriptor& descriptor = *request.add_descriptors();
  for (int i = 0; i < 30'000; ++i) descriptor.add_entries();
  v1::ShouldAllowResponse response;
  EXPECT_THAT(
      served.Ask(request, response).error_message(),
      testing::HasSubstr("descriptors[0].entries: got 30000, want 1 to 32"));
  ExpectAliveAndUntouched(served);
}

TEST(RpcHostile, SaysThatAnUnknownMethodIsNotImplemented) {
  Served served(2);
  EXPECT_EQ(served.AskRaw("/tollgate.v1.RateLimiter/Nope", "").error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(served.AskRaw("/nobody.Knows/It", "").error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  ExpectAliveAndUntouched(served);
}

TEST(RpcHostile, SurvivesBytesThatAreNoHttp2) {
  Served served(2);
  const std::string greetings[] = {
      "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
      std::string(100'000, '\0'),
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + std::string(5000, '\xFF'),
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "",
  };
  for (const std::string& greeting : greetings) {
    const int fd = ConnectTo(served.port);
    ASSERT_GE(fd, 0);
    (void)::send(fd, greeting.data(), greeting.size(), MSG_NOSIGNAL);
    ::close(fd);
  }
  ExpectAliveAndUntouched(served);
}

TEST(RpcHostile, ForgetsACallThatItsClientCancels) {
  Served served(1000);
  for (int i = 0; i < 200; ++i) {
    grpc::ClientContext context;
    SetDeadline(context);
    grpc::CompletionQueue queue;
    const auto call =
        served.stub->AsyncShouldAllow(&context, UserRequest("ana"), &queue);
    v1::ShouldAllowResponse response;
    grpc::Status status;
    call->Finish(&response, &status, nullptr);
    context.TryCancel();
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
  }
  EXPECT_EQ(served.Ask(UserRequest("bob")).outcome(), v1::ALLOWED);
  served.server->Drain(absl::Seconds(10));
  EXPECT_EQ(served.observer.arrivals, served.observer.finishes);
}

}  // namespace
}  // namespace tollgate
