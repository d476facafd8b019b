#ifndef TOLLGATE_SERVER_APP_SERVER_OPTIONS_H_
#define TOLLGATE_SERVER_APP_SERVER_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/headers/rate_limit_headers.h"
#include "server/limiter/refused_keys.h"
#include "server/rules/rule_file.h"

namespace tollgate {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
enum class LogFormat { kText, kJson };

// What the flags say; ParseServerFlags describes and bounds each of them.
struct ServerOptions {
  std::string rules;
  absl::Duration rules_poll = absl::Seconds(10);
  LoadOptions load;  // how Envoy-format rule files are read
  std::string listen = "127.0.0.1:8081";
  std::string http_listen = "127.0.0.1:8080";  // empty: no HTTP
  bool status_page = true;
  bool http_check = true;     // serve /json and /check
  std::string health_listen;  // empty: none
  std::string tls_cert;       // paths; empty: plain text
  std::string tls_key;        // empty with tls_cert
  std::string tls_client_ca;  // empty: clients need no certificate
  std::vector<std::string> tls_allow_identities;  // empty: all
  // By domain; one that is not in it is for all that may ask.
  absl::flat_hash_map<std::string, std::vector<std::string>> domain_identities;
  std::vector<std::string> admin_identities;  // empty: those that may ask
  bool admin = true;                          // serve Admin
  int max_connections = 10'000;               // 0: as many as descriptors allow
  int max_connections_per_address = 5'000;    // 0: any number
  std::optional<uint64_t> flood_bytes;        // unset: from max_message_bytes
  absl::Duration flood_block = absl::Seconds(1);           // 0: none
  absl::Duration slow_reader_timeout = absl::Seconds(20);  // 0: never
  absl::Duration max_connection_age = absl::Minutes(5);
  int64_t max_in_flight = 4096;
  absl::Duration max_queue_wait = absl::Milliseconds(100);  // 0: as it takes
  int max_message_bytes = 64 * 1024;
  int64_t max_buckets = 10'000'000;
  int threads = 0;  // 0: as many as cores, at least 2
  // Unset: none to gateways, draft10 from /check.
  std::optional<HeaderProfile> rate_limit_headers;
  bool envoy_dynamic_metadata = false;
  bool envoy_shadow_mode = false;
  absl::Duration drain_grace = absl::Seconds(10);
  absl::Duration drain_delay = absl::ZeroDuration();
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
  std::string state_file;  // empty: none
  absl::Duration state_interval = absl::Seconds(60);
  std::string port_file;         // empty: none
  std::string store = "memory";  // or a redis:// URL, which may hold a password
  std::string store_password_file;  // empty: none
  std::string store_password;       // of the environment; empty: none
  absl::Duration store_timeout = absl::Milliseconds(10);
  uint32_t replicas = 1;
  bool start_without_store = false;
  RefusedKeysOptions refused_keys = {.mode = RefusedKeysOptions::Mode::kOn};
};

struct ParsedFlags {
  ServerOptions options;
  // Not empty after --help and --version: print it and exit 0.
  std::string text;
};

// Reads the flags of tollgate-server; where a flag is not given, the
// environment (TOLLGATE_RULES for --rules, and so on). INVALID_ARGUMENT names
// the flag, what it got, and what it wants. `argv[0]` is not looked at.
[[nodiscard]] absl::StatusOr<ParsedFlags> ParseServerFlags(
    int argc, const char* const* argv);

// Such as "0.1.0".
[[nodiscard]] const char* ServerVersion();

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_APP_SERVER_OPTIONS_H_
