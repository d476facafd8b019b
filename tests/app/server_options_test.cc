#include "server/app/server_options.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/app/network_flags.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

absl::StatusOr<ParsedFlags> Parse(std::vector<const char*> flags) {
  flags.insert(flags.begin(), "tollgate-server");
  return ParseServerFlags(static_cast<int>(flags.size()), flags.data());
}

// With --rules, which is required.
absl::StatusOr<ParsedFlags> ParseWithRules(const char* flag) {
  return Parse({"--rules=r.yaml", flag});
}

TEST(ServerOptions, HaveWhatGatewaysAreTold) {
  auto parsed = Parse({"--rules=r"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_FALSE(parsed->options.rate_limit_headers.has_value());
  EXPECT_FALSE(parsed->options.envoy_dynamic_metadata);
  EXPECT_FALSE(parsed->options.envoy_shadow_mode);
  parsed = Parse({"--rules=r", "--rate-limit-headers=draft10",
                  "--envoy-dynamic-metadata=true", "--envoy-shadow-mode=true"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->options.rate_limit_headers, HeaderProfile::kDraft10);
  EXPECT_TRUE(parsed->options.envoy_dynamic_metadata);
  EXPECT_TRUE(parsed->options.envoy_shadow_mode);
}

TEST(ParseServerFlags, BoundsWhatConnectionsMayDo) {
  auto parsed = Parse({"--rules=r", "--max-connections=0",
                       "--max-connections-per-address=1", "--flood-bytes=0",
                       "--slow-reader-timeout=0s", "--max-connection-age=1s"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->options.max_connections, 0);
  EXPECT_EQ(parsed->options.max_connections_per_address, 1);
  EXPECT_EQ(parsed->options.flood_bytes, 0U);
  EXPECT_EQ(parsed->options.slow_reader_timeout, absl::ZeroDuration());
  EXPECT_EQ(parsed->options.max_connection_age, absl::Seconds(1));
  EXPECT_THAT(ParseWithRules("--max-connections=-1"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--max-connections: got \"-1\", want a whole "
                                 "number from 0 to 1000000")));
  EXPECT_THAT(ParseWithRules("--max-connection-age=999ms"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("want a duration from 1s to 24h")));
  EXPECT_THAT(ParseWithRules("--flood-bytes=x"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--flood-bytes: got \"x\"")));
}

TEST(ParseServerFlags, SwitchesHttpChecksOff) {
  auto parsed = Parse({"--rules=r"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(parsed->options.http_check);
  parsed = Parse({"--rules=r", "--http-check=off"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_FALSE(parsed->options.http_check);
  EXPECT_THAT(ParseWithRules("--http-check=no"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--http-check: got \"no\", want on or off")));
}

TEST(WarningOf, TellsThatHttpAsksForNoCertificateBeyondThisMachine) {
  ServerOptions options;
  options.http_listen = "0.0.0.0:8080";
  EXPECT_EQ(WarningOf(options), "");  // nobody shows a certificate
  options.tls_client_ca = "ca.crt";
  EXPECT_THAT(WarningOf(options), AllOf(HasSubstr("--http-listen=0.0.0.0:8080"),
                                        HasSubstr("--http-check=off")));
  options.http_listen = "[::]:8080";
  EXPECT_NE(WarningOf(options), "");
  for (const char* quiet :
       {"127.0.0.1:8080", "[::1]:8080", "localhost:1", ""}) {
    options.http_listen = quiet;
    EXPECT_EQ(WarningOf(options), "") << quiet;
  }
  options.http_listen = "0.0.0.0:8080";
  options.http_check = false;
  EXPECT_EQ(WarningOf(options), "");
}

TEST(ParseServerFlags, BoundsTheWaitOfCalls) {
  for (const char* wait : {"0s", "1ms", "10s"}) {
    const std::string flag = std::string("--max-queue-wait=") + wait;
    const auto parsed = ParseWithRules(flag.c_str());
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    absl::Duration expected;
    ASSERT_TRUE(absl::ParseDuration(wait, &expected));
    EXPECT_EQ(parsed->options.max_queue_wait, expected);
  }
}

TEST(ParseServerFlags, TakesTheFilesOfTlsTogether) {
  const auto parsed =
      Parse({"--rules=r", "--tls-cert=c", "--tls-key=k", "--tls-client-ca=a"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->options.tls_cert, "c");
  EXPECT_EQ(parsed->options.tls_key, "k");
  EXPECT_EQ(parsed->options.tls_client_ca, "a");
  EXPECT_THAT(ParseWithRules("--tls-cert=c"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--tls-key: missing, want the key of --tls-cert"));
  EXPECT_THAT(ParseWithRules("--tls-key=k"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--tls-cert: missing, want the certificate of "
                       "--tls-key"));
  EXPECT_THAT(ParseWithRules("--tls-client-ca=a"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--tls-client-ca: does not go without --tls-cert and "
                       "--tls-key"));
}

TEST(ParseServerFlags, TakesIdentitiesAgainAndAgain) {
  const auto parsed = Parse(
      {"--rules=r", "--tls-cert=c", "--tls-key=k", "--tls-client-ca=a",
       "--tls-allow-identity=spiffe://a/b", "--tls-allow-identity=c.d",
       "--domain-identity=shop=spiffe://a/b?c=d", "--domain-identity=pay=e",
       "--domain-identity=shop=f", "--admin-identity=e", "--admin=off"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->options.tls_allow_identities,
            (std::vector<std::string>{"spiffe://a/b", "c.d"}));
  EXPECT_THAT(
      parsed->options.domain_identities,
      UnorderedElementsAre(Pair("shop", ElementsAre("spiffe://a/b?c=d", "f")),
                           Pair("pay", ElementsAre("e"))));
  for (const char* bad : {"shop", "shop=", "=e", "shop=e,f"}) {
    EXPECT_THAT(ParseWithRules(absl::StrCat("--domain-identity=", bad).c_str()),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("such as shop=spiffe://prod/shop")))
        << bad;
  }
  EXPECT_THAT(ParseWithRules("--domain-identity=shop=e"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--tls-client-ca: missing")));
  const std::vector<const char*> open_admin = {
      "--rules=r", "--tls-cert=c", "--tls-key=k", "--tls-client-ca=a",
      "--domain-identity=shop=e"};
  EXPECT_THAT(Parse(open_admin),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--admin-identity: missing")));
  for (const char* closed : {"--admin-identity=e", "--admin=off"}) {
    std::vector<const char*> flags = open_admin;
    flags.push_back(closed);
    EXPECT_TRUE(Parse(flags).ok()) << closed;
  }
  EXPECT_EQ(parsed->options.admin_identities, std::vector<std::string>{"e"});
  EXPECT_FALSE(parsed->options.admin);
  EXPECT_THAT(ParseWithRules("--admin-identity=e"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--tls-client-ca: missing")));
  EXPECT_THAT(ParseWithRules("--admin=no"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--admin: got \"no\", want on or off")));
}

TEST(ParseServerFlags, HasTheDocumentedDefaults) {
  const auto parsed = Parse({"--rules=r.yaml"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const ServerOptions& options = parsed->options;
  EXPECT_EQ(parsed->text, "");
  EXPECT_EQ(options.rules, "r.yaml");
  EXPECT_EQ(options.rules_poll, absl::Seconds(10));
  EXPECT_EQ(options.load.envoy_algorithm->name(), "token_bucket");
  EXPECT_FALSE(options.load.merge_domains);
  EXPECT_EQ(options.listen, "127.0.0.1:8081");
  EXPECT_EQ(options.http_listen, "127.0.0.1:8080");
  EXPECT_TRUE(options.status_page);
  EXPECT_TRUE(options.admin);
  EXPECT_EQ(options.health_listen, "");
  EXPECT_EQ(options.tls_cert, "");
  EXPECT_EQ(options.tls_client_ca, "");
  EXPECT_EQ(options.max_connections, 10'000);
  EXPECT_EQ(options.max_connections_per_address, 5'000);
  EXPECT_EQ(options.flood_bytes, std::nullopt);
  EXPECT_EQ(options.flood_block, absl::Seconds(1));
  EXPECT_EQ(options.slow_reader_timeout, absl::Seconds(20));
  EXPECT_EQ(options.max_connection_age, absl::Minutes(5));
  EXPECT_EQ(options.max_in_flight, 4096);
  EXPECT_EQ(options.max_queue_wait, absl::Milliseconds(100));
  EXPECT_EQ(options.max_message_bytes, 65536);
  EXPECT_EQ(options.max_buckets, 10'000'000);
  EXPECT_EQ(options.threads, 0);
  EXPECT_EQ(options.drain_grace, absl::Seconds(10));
  EXPECT_EQ(options.drain_delay, absl::ZeroDuration());
  EXPECT_EQ(options.log_level, LogLevel::kInfo);
  EXPECT_EQ(options.log_format, LogFormat::kText);
  EXPECT_EQ(options.state_file, "");
  EXPECT_EQ(options.state_interval, absl::Seconds(60));
  EXPECT_EQ(options.port_file, "");
  EXPECT_EQ(options.refused_keys.mode, RefusedKeysOptions::Mode::kOn);
  EXPECT_EQ(options.refused_keys.keys_per_rule, 100u);
  EXPECT_EQ(options.refused_keys.half_life, absl::Minutes(10));
}

TEST(ParseServerFlags, ReadsEveryFlag) {
  const auto parsed = Parse({"--rules",
                             "rules.d",
                             "--rules-poll=10ms",
                             "--envoy-algorithm=fixed_window",
                             "--merge-domains=true",
                             "--listen=[::]:0",
                             "--http-listen=0.0.0.0:65535",
                             "--health-listen=127.0.0.1:0",
                             "--max-in-flight=1",
                             "--max-message-bytes=1024",
                             "--max-buckets=1000000000",
                             "--threads=1024",
                             "--drain-grace=1h",
                             "--drain-delay=500ms",
                             "--log-level=error",
                             "--log-format=json",
                             "--port-file=/tmp/p",
                             "--top-refused=off",
                             "--top-refused-keys=1000",
                             "--top-half-life=24h",
                             "--status-page=off"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const ServerOptions& options = parsed->options;
  EXPECT_EQ(options.rules, "rules.d");
  EXPECT_FALSE(options.status_page);
  EXPECT_EQ(options.rules_poll, absl::Milliseconds(10));
  EXPECT_EQ(options.load.envoy_algorithm->name(), "fixed_window");
  EXPECT_TRUE(options.load.merge_domains);
  EXPECT_EQ(options.listen, "[::]:0");
  EXPECT_EQ(options.http_listen, "0.0.0.0:65535");
  EXPECT_EQ(options.health_listen, "127.0.0.1:0");
  EXPECT_EQ(options.max_in_flight, 1);
  EXPECT_EQ(options.max_message_bytes, 1024);
  EXPECT_EQ(options.max_buckets, 1'000'000'000);
  EXPECT_EQ(options.threads, 1024);
  EXPECT_EQ(options.drain_grace, absl::Hours(1));
  EXPECT_EQ(options.drain_delay, absl::Milliseconds(500));
  EXPECT_EQ(options.log_level, LogLevel::kError);
  EXPECT_EQ(options.log_format, LogFormat::kJson);
  EXPECT_EQ(options.port_file, "/tmp/p");
  EXPECT_EQ(options.refused_keys.mode, RefusedKeysOptions::Mode::kOff);
  EXPECT_EQ(options.refused_keys.keys_per_rule, 1000u);
  EXPECT_EQ(options.refused_keys.half_life, absl::Hours(24));
}

TEST(ParseServerFlags, TurnsHttpOff) {
  EXPECT_EQ(ParseWithRules("--http-listen=off")->options.http_listen, "");
  const auto empty = Parse({"--rules=r.yaml", "--http-listen", ""});
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_EQ(empty->options.http_listen, "");
}

TEST(ParseServerFlags, NamesTheFlagWhatItGotAndWhatItWants) {
  const struct {
    const char* flag;
    const char* message;
  } kBad[] = {
      {"--rules-poll=9ms", "--rules-poll: got \"9ms\", want a duration"},
      {"--rules-poll=0", "--rules-poll: got \"0\", want a duration"},
      {"--rules-poll=2h", "--rules-poll: got \"2h\", want a duration"},
      {"--listen=8081", "--listen: got \"8081\", want HOST:PORT"},
      {"--listen=:8081", "--listen: got \":8081\", want HOST:PORT"},
      {"--listen=h:", "--listen: got \"h:\", want HOST:PORT"},
      {"--listen=h:65536", "--listen: got \"h:65536\", want HOST:PORT"},
      {"--listen=h:-1", "--listen: got \"h:-1\", want HOST:PORT"},
      {"--listen=::1:80", "--listen: got \"::1:80\", want HOST:PORT"},
      {"--http-listen=x", "--http-listen: got \"x\", want HOST:PORT"},
      {"--max-in-flight=0",
       "--max-in-flight: got \"0\", want a whole number from 1 to 1000000"},
      {"--max-in-flight=1000001", "--max-in-flight: got \"1000001\", want"},
      {"--max-queue-wait=999us",
       "--max-queue-wait: got \"999us\", want 0s, or"},
      {"--max-queue-wait=10001ms", "--max-queue-wait: got \"10001ms\", want"},
      {"--max-in-flight=many", "--max-in-flight: got \"many\", want"},
      {"--max-message-bytes=1023", "--max-message-bytes: got \"1023\", want"},
      {"--max-message-bytes=16777217", "--max-message-bytes: got \"16777217\""},
      {"--rate-limit-headers=ietf",
       "--rate-limit-headers: got \"ietf\", want legacy, draft10 or none"},
      {"--envoy-dynamic-metadata=yes",
       "--envoy-dynamic-metadata: got \"yes\", want true or false"},
      {"--envoy-shadow-mode=1",
       "--envoy-shadow-mode: got \"1\", want true or false"},
      {"--max-buckets=0",
       "--max-buckets: got \"0\", want a whole number from 1 to 1000000000"},
      {"--max-buckets=1000000001", "--max-buckets: got \"1000000001\", want"},
      {"--threads=-1", "--threads: got \"-1\", want"},
      {"--threads=1025", "--threads: got \"1025\", want"},
      {"--drain-grace=10", "--drain-grace: got \"10\", want a duration"},
      {"--drain-grace=-1s", "--drain-grace: got \"-1s\", want a duration"},
      {"--drain-delay=61m", "--drain-delay: got \"61m\", want a duration"},
      {"--log-level=loud", "--log-level: got \"loud\", want debug, info"},
      {"--log-format=xml", "--log-format: got \"xml\", want text or json"},
      {"--top-refused=yes", "--top-refused: got \"yes\", want on, hashed"},
      {"--top-refused-keys=0", "--top-refused-keys: got \"0\", want"},
      {"--top-refused-keys=1001", "--top-refused-keys: got \"1001\", want"},
      {"--top-half-life=9s", "--top-half-life: got \"9s\", want a duration"},
      {"--top-half-life=25h", "--top-half-life: got \"25h\", want"},
      {"--status-page=yes", "--status-page: got \"yes\", want on or off"},
      {"--nope=1", "got \"--nope=1\", want only the flags"},
      {"stray", "got \"stray\", want only the flags"},
      {"--threads", "--threads"},
  };
  for (const auto& bad : kBad) {
    EXPECT_THAT(
        ParseWithRules(bad.flag),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(bad.message)))
        << bad.flag;
  }
}

TEST(ParseServerFlags, WantsRules) {
  for (const auto& flags :
       {std::vector<const char*>{}, std::vector<const char*>{"--rules="}}) {
    EXPECT_THAT(Parse(flags), StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr("--rules")));
  }
}

TEST(ParseServerFlags, TakesAStateIntervalFrom10MillisecondsTo1Hour) {
  for (const char* const good : {"10ms", "1h"}) {
    EXPECT_TRUE(Parse({"--rules=r", "--state-interval", good}).ok()) << good;
  }
  for (const char* const bad : {"9ms", "1h1ns", "0", "-1s", "often", ""}) {
    EXPECT_THAT(Parse({"--rules=r", "--state-interval", bad}).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("--state-interval: got \"")))
        << bad;
  }
}

TEST(ParseServerFlags, TakesTheEnvironmentWhereThereIsNoFlag) {
  ::setenv("TOLLGATE_RULES", "from-environment.yaml", 1);
  ::setenv("TOLLGATE_MAX_IN_FLIGHT", "7", 1);
  ::setenv("TOLLGATE_THREADS", "3", 1);
  const auto parsed = Parse({"--threads=2"});
  ::setenv("TOLLGATE_MAX_IN_FLIGHT", "none", 1);
  const auto bad = Parse({});
  ::unsetenv("TOLLGATE_RULES");
  ::unsetenv("TOLLGATE_MAX_IN_FLIGHT");
  ::unsetenv("TOLLGATE_THREADS");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->options.rules, "from-environment.yaml");
  EXPECT_EQ(parsed->options.max_in_flight, 7);
  EXPECT_EQ(parsed->options.threads, 2);
  EXPECT_THAT(bad, StatusIs(absl::StatusCode::kInvalidArgument,
                            HasSubstr("--max-in-flight: got \"none\"")));
}

TEST(ParseServerFlags, TeachesWithExamples) {
  const auto help = Parse({"--help"});
  ASSERT_TRUE(help.ok());
  EXPECT_THAT(help->text,
              AllOf(HasSubstr("--rules"), HasSubstr("TOLLGATE_RULES"),
                    HasSubstr("--drain-delay"), HasSubstr("SIGHUP"),
                    HasSubstr("Examples:"),
                    HasSubstr("tollgate-server --rules=rules.yaml")));
}

TEST(ParseServerFlags, SaysItsVersion) {
  const auto version = Parse({"--version"});
  ASSERT_TRUE(version.ok());
  EXPECT_EQ(version->text,
            std::string("tollgate-server ") + ServerVersion() + "\n");
}

TEST(ParseServerFlags, NamesWhatEnvoyFormatFilesMayBeReadWith) {
  EXPECT_THAT(
      ParseWithRules("--envoy-algorithm=sliding_log").status().message(),
      HasSubstr("--envoy-algorithm: got \"sliding_log\", want token_bucket or "
                "fixed_window"));
  EXPECT_THAT(ParseWithRules("--merge-domains=yes").status().message(),
              HasSubstr("--merge-domains: got \"yes\", want true or false"));
}

}  // namespace
}  // namespace tollgate
