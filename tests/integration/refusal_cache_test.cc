// A caller that does not stop asking, against a real server.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"
#include "tests/support/temp_files.h"

namespace tollgate {
namespace {

TEST(RefusalCacheOverTheWire, AnAbusiveLoopAsksTheServiceAFewTimesASecond) {
  TempFiles files;
  const std::string rules =
      files.Write("rules.yaml",
                  "domain: shop\n"
                  "rules: [{name: per-user, key: [user], limit: 1/day}]\n");
  Process server(
      TOLLGATE_SERVER_BINARY,
      {absl::StrCat("--rules=", rules), "--listen=127.0.0.1:0",
       "--http-listen=off", absl::StrCat("--port-file=", files.Path("ports"))});
  ASSERT_TRUE(server.WaitForLine("ready")) << server.log();
  client::ClientOptions options;
  options.target =
      absl::StrCat("127.0.0.1:", PortFrom(files.Read("ports"), "grpc"));
  options.timeout = absl::Seconds(10);
  const auto client = *client::Client::Create(options);
  const client::Request ana{"shop", {{{"user", "ana"}}}};
  ASSERT_TRUE(client->ShouldAllow(ana).allowed);

  const absl::Time start = absl::Now();
  uint64_t asked = 0;
  while (absl::Now() - start < absl::Seconds(2)) {
    EXPECT_FALSE(client->ShouldAllow(ana).allowed);
    ++asked;
  }
  const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
  const client::ClientStats stats = client->stats();
  EXPECT_GT(asked, 1000);
  EXPECT_EQ(stats.service + stats.refusal_cache, asked + 1);
  // One a second, and the first ones.
  EXPECT_LE(static_cast<double>(stats.service), 3 + seconds);
}

}  // namespace
}  // namespace tollgate
