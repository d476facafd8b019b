#ifndef TOLLGATE_TESTS_INTEGRATION_REPLICA_H_
#define TOLLGATE_TESTS_INTEGRATION_REPLICA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"
#include "tests/support/tcp_client.h"
#include "tests/support/temp_files.h"

namespace tollgate {

// One tollgate-server process that shares its buckets with others, and a client
// that leaves each decision to it. Questions may come from several threads.
class Replica {
 public:
  using Entries = std::vector<client::Entry>;

  // `flags` besides: --store at least.
  Replica(const std::string& rules, std::vector<std::string> flags)
      : server_(TOLLGATE_SERVER_BINARY, AllFlags(rules, std::move(flags))) {
    EXPECT_TRUE(server_.WaitForLine("ready")) << server_.log();
    http_port_ = PortFrom(files_.Read("ports"), "http");
    client::ClientOptions options;
    options.target =
        "127.0.0.1:" + std::to_string(PortFrom(files_.Read("ports"), "grpc"));
    options.timeout = absl::Seconds(20);
    options.refusal_cache_ttl = absl::ZeroDuration();
    auto client = client::Client::Create(options);
    EXPECT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  // What the service says to a request with these entries.
  client::Decision Decide(Entries entries, uint32_t cost = 1) {
    client::Decision decision =
        client_->ShouldAllow({"shop", {std::move(entries)}, cost});
    EXPECT_EQ(decision.source, client::Source::kService) << decision.error;
    return decision;
  }
  bool Ask(Entries entries) { return Decide(std::move(entries)).allowed; }
  // Whether the store decides, and no outage policy.
  bool StoreDecides(Entries entries) {
    return !IsOutage(Decide(std::move(entries), /*cost=*/0));
  }
  static bool IsOutage(const client::Decision& decision) {
    return absl::c_any_of(decision.statuses,
                          [](const auto& status) { return status.outage; });
  }
  // Whole tokens that are left under `rule`.
  uint64_t Left(const std::string& rule, Entries entries) {
    const client::Decision decision = Decide(std::move(entries), /*cost=*/0);
    for (const auto& status : decision.statuses) {
      if (status.rule == rule) return status.remaining;
    }
    ADD_FAILURE() << "no rule " << rule;
    return 0;
  }

  // The answer to GET, its head too.
  [[nodiscard]] std::string Get(const std::string& path) const {
    return AskHttp(http_port_, "GET", path);
  }
  [[nodiscard]] bool is_ready() const {
    return absl::StrContains(Get("/readyz"), " 200 ");
  }
  // The sum of the metrics that begin so, such as a name with some labels.
  [[nodiscard]] double Metric(const std::string& start) const {
    double sum = 0;
    const std::string text = Get("/metrics");
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      double value = 0;
      if (!absl::StartsWith(line, start)) continue;
      line = absl::StripSuffix(line, "\r");
      EXPECT_TRUE(absl::SimpleAtod(line.substr(line.rfind(' ') + 1), &value))
          << line;
      sum += value;
    }
    return sum;
  }

  // Whether it logs that, now or before.
  bool HasLogged(const std::string& text) {
    return absl::StrContains(server_.log(), text) || server_.WaitForLine(text);
  }
  [[nodiscard]] Process& process() { return server_; }

 private:
  std::vector<std::string> AllFlags(const std::string& rules,
                                    std::vector<std::string> flags) {
    flags.insert(
        flags.end(),
        {"--rules=" + files_.Write("rules.yaml", rules), "--listen=127.0.0.1:0",
         "--http-listen=127.0.0.1:0", "--port-file=" + files_.Path("ports")});
    return flags;
  }

  TempFiles files_;
  Process server_;
  int http_port_ = 0;
  std::unique_ptr<client::Client> client_;
};

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_INTEGRATION_REPLICA_H_
