#include "server/app/server_options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/app/flag.h"
#include "server/app/help_text.h"
#include "server/app/network_flags.h"
#include "server/app/store_flags.h"

namespace tollgate {
namespace {

absl::Status SetLogLevel(const std::string& value, ServerOptions& options) {
  constexpr std::array<const char*, 4> kNames = {"debug", "info", "warning",
                                                 "error"};
  const auto* const name = std::find(kNames.begin(), kNames.end(), value);
  if (name == kNames.end())
    return BadFlag(value, "debug, info, warning or error");
  options.log_level = static_cast<LogLevel>(name - kNames.begin());
  return absl::OkStatus();
}

absl::Status SetLogFormat(const std::string& value, ServerOptions& options) {
  if (value != "text" && value != "json") return BadFlag(value, "text or json");
  options.log_format = value == "json" ? LogFormat::kJson : LogFormat::kText;
  return absl::OkStatus();
}

absl::Status SetStatusPage(const std::string& value, ServerOptions& options) {
  if (value != "on" && value != "off") return BadFlag(value, "on or off");
  options.status_page = value == "on";
  return absl::OkStatus();
}

absl::Status SetTopRefused(const std::string& value, ServerOptions& options) {
  using Mode = RefusedKeysOptions::Mode;
  Mode& mode = options.refused_keys.mode;
  if (value == "on") {
    mode = Mode::kOn;
  } else if (value == "hashed") {
    mode = Mode::kHashed;
  } else if (value == "off") {
    mode = Mode::kOff;
  } else {
    return BadFlag(value, "on, hashed or off");
  }
  return absl::OkStatus();
}

absl::Status SetMaxQueueWait(const std::string& value, ServerOptions& options) {
  constexpr char kWanted[] = "0s, or a duration from 1ms to 10s, such as 100ms";
  absl::Duration wait;
  absl::Status status = SetDuration(value, absl::ZeroDuration(),
                                    absl::Seconds(10), kWanted, wait);
  if (!status.ok()) return status;
  if (wait > absl::ZeroDuration() && wait < absl::Milliseconds(1)) {
    return BadFlag(value, kWanted);
  }
  options.max_queue_wait = wait;
  return absl::OkStatus();
}

absl::Status SetHeaders(const std::string& value, ServerOptions& options) {
  const absl::StatusOr<HeaderProfile> profile = ParseHeaderProfile(value);
  if (!profile.ok()) return profile.status();
  options.rate_limit_headers = *profile;
  return absl::OkStatus();
}

absl::Status SetEnvoyAlgorithm(const std::string& value,
                               ServerOptions& options) {
  const Algorithm* algorithm = FindEnvoyAlgorithm(value);
  if (algorithm == nullptr)
    return BadFlag(value, "token_bucket or fixed_window");
  options.load.envoy_algorithm = algorithm;
  return absl::OkStatus();
}

constexpr char kUpToAnHour[] = "a duration from 0s to 1h, such as 10s or 500ms";

constexpr std::array kFlags = {
    Flag{"--rules", "FILE|DIR",
         "The rules: one YAML file, native or of the Envoy format, or a "
         "directory of *.yaml and *.yml. Required",
         [](const std::string& v, ServerOptions& o) {
           o.rules = v;
           return absl::OkStatus();
         }},
    Flag{"--rules-poll", "DURATION",
         "How often the rules are looked at for changes that the file system "
         "does not tell of, 10ms to 1h [10s]",
         [](const std::string& v, ServerOptions& o) {
           return SetDuration(v, absl::Milliseconds(10), absl::Hours(1),
                              "a duration from 10ms to 1h, such as 10s",
                              o.rules_poll);
         }},
    Flag{"--envoy-algorithm", "NAME",
         "What the limits of Envoy-format rule files are: token_bucket, or "
         "fixed_window to count as envoyproxy/ratelimit does [token_bucket]",
         SetEnvoyAlgorithm},
    Flag{"--merge-domains", "BOOL",
         "Whether several Envoy-format files may have one domain: true merges "
         "their descriptors in the order of the files' names [false]",
         [](const std::string& v, ServerOptions& o) {
           return SetBool(v, o.load.merge_domains);
         }},
    Flag{"--status-page", "on|off",
         "The status page at / of HTTP: rules, rates, and the keys that are "
         "refused most, for whoever can reach that port [on]",
         SetStatusPage},
    Flag{"--max-in-flight", "N",
         "Calls being answered at once; more are turned away with UNAVAILABLE "
         "[4096]",
         [](const std::string& v, ServerOptions& o) {
           return SetInt<int64_t>(v, 1, 1'000'000, o.max_in_flight);
         }},
    Flag{"--max-queue-wait", "DURATION",
         "While calls wait longer for a thread, all of them for a tenth of a "
         "second, those that ask are turned away with UNAVAILABLE, 1ms to 10s; "
         "0s is never [100ms]",
         SetMaxQueueWait},
    Flag{"--max-message-bytes", "N",
         "The largest request message; it bounds the work of one call [65536]",
         [](const std::string& v, ServerOptions& o) {
           return SetInt(v, 1024, 16 * 1024 * 1024, o.max_message_bytes);
         }},
    Flag{
        "--max-buckets", "N",
        "Buckets remembered at most, about 56 bytes each; at that number, keys "
        "that have none share one for each rule [10000000]",
        [](const std::string& v, ServerOptions& o) {
          return SetInt<int64_t>(v, 1, 1'000'000'000, o.max_buckets);
        }},
    Flag{"--threads", "N",
         "Threads that answer; 0 is as many as cores, at least 2 [0]",
         [](const std::string& v, ServerOptions& o) {
           return SetInt(v, 0, 1024, o.threads);
         }},
    Flag{"--rate-limit-headers", "PROFILE",
         "The headers that tell a client its limits: legacy (X-RateLimit-*), "
         "draft10 (RateLimit, RateLimit-Policy) or none, in answers to Envoy "
         "and from /check [none to Envoy, draft10 from /check]",
         SetHeaders},
    Flag{"--envoy-dynamic-metadata", "BOOL",
         "true: answers to Envoy tell the request and the rules' metadata in "
         "dynamic_metadata [false]",
         [](const std::string& v, ServerOptions& o) {
           return SetBool(v, o.envoy_dynamic_metadata);
         }},
    Flag{"--envoy-shadow-mode", "BOOL",
         "true: the overall answer to Envoy is always OK, whatever the "
         "statuses say; for a trial [false]",
         [](const std::string& v, ServerOptions& o) {
           return SetBool(v, o.envoy_shadow_mode);
         }},
    Flag{"--drain-grace", "DURATION",
         "After SIGTERM: how long calls in flight may take to finish [10s]",
         [](const std::string& v, ServerOptions& o) {
           return SetDuration(v, absl::ZeroDuration(), absl::Hours(1),
                              kUpToAnHour, o.drain_grace);
         }},
    Flag{"--drain-delay", "DURATION",
         "After SIGTERM: how long to go on answering while health says "
         "NOT_SERVING, so that clients can leave first [0s]",
         [](const std::string& v, ServerOptions& o) {
           return SetDuration(v, absl::ZeroDuration(), absl::Hours(1),
                              kUpToAnHour, o.drain_delay);
         }},
    Flag{"--top-refused", "on|hashed|off",
         "The keys that are refused most, for \"tollgate top\": kept as "
         "requests have them, as hashes that only tell them apart, or not at "
         "all [on]",
         SetTopRefused},
    Flag{"--top-refused-keys", "N",
         "Keys kept for each rule, 1 to 1000, up to 400 bytes each; the more, "
         "the more counts are exact [100]",
         [](const std::string& v, ServerOptions& o) {
           return SetInt<size_t>(v, 1, 1000, o.refused_keys.keys_per_rule);
         }},
    Flag{"--top-half-life", "DURATION",
         "How soon refusals lose half their weight, 10s to 24h: shorter shows "
         "who is refused now, longer who was in the night [10m]",
         [](const std::string& v, ServerOptions& o) {
           return SetDuration(v, absl::Seconds(10), absl::Hours(24),
                              "a duration from 10s to 24h, such as 10m",
                              o.refused_keys.half_life);
         }},
    Flag{"--state-file", "FILE",
         "Keep the buckets there over a restart: read at the start, written "
         "every --state-interval and after SIGTERM. One for each process",
         [](const std::string& v, ServerOptions& o) {
           o.state_file = v;
           return absl::OkStatus();
         }},
    Flag{"--state-interval", "DURATION",
         "How often the state file is written, 10ms to 1h; a crash forgets "
         "what was spent since [60s]",
         [](const std::string& v, ServerOptions& o) {
           return SetDuration(v, absl::Milliseconds(10), absl::Hours(1),
                              "a duration from 10ms to 1h, such as 60s",
                              o.state_interval);
         }},
    Flag{"--log-level", "LEVEL", "debug, info, warning or error [info]",
         SetLogLevel},
    Flag{"--log-format", "FORMAT", "text, or json: one object a line [text]",
         SetLogFormat},
    Flag{"--port-file", "PATH",
         "Once ready, write the ports there as grpc=PORT and http=PORT lines, "
         "and health=PORT with --health-listen; "
         "for scripts that use port 0",
         [](const std::string& v, ServerOptions& o) {
           o.port_file = v;
           return absl::OkStatus();
         }},
};

// What no flag can tell by itself.
absl::Status CheckTogether(const ServerOptions& options) {
  if (options.rules.empty()) {
    return absl::InvalidArgumentError(
        "--rules: missing, want a file or a directory of rules");
  }
  if (options.store != "memory" && !options.state_file.empty()) {
    return absl::InvalidArgumentError(
        "--state-file: does not go with a --store that keeps the buckets "
        "itself");
  }
  if (options.tls_cert.empty() && !options.tls_key.empty()) {
    return absl::InvalidArgumentError(
        "--tls-cert: missing, want the certificate of --tls-key");
  }
  if (!options.tls_cert.empty() && options.tls_key.empty()) {
    return absl::InvalidArgumentError(
        "--tls-key: missing, want the key of --tls-cert");
  }
  if (!options.tls_client_ca.empty() && options.tls_cert.empty()) {
    return absl::InvalidArgumentError(
        "--tls-client-ca: does not go without --tls-cert and --tls-key");
  }
  if (options.tls_client_ca.empty() && (!options.tls_allow_identities.empty() ||
                                        !options.domain_identities.empty() ||
                                        !options.admin_identities.empty())) {
    return absl::InvalidArgumentError(
        "--tls-client-ca: missing, want the authority of --tls-allow-identity, "
        "--domain-identity and --admin-identity");
  }
  if (!options.domain_identities.empty() && options.admin &&
      options.admin_identities.empty()) {
    return absl::InvalidArgumentError(
        "--admin-identity: missing, want it or --admin=off with "
        "--domain-identity, or whoever is kept from a domain could reset its "
        "buckets");
  }
  return absl::OkStatus();
}

// --max-in-flight: TOLLGATE_MAX_IN_FLIGHT.
std::string EnvironmentName(absl::string_view flag) {
  std::string name = absl::StrCat("TOLLGATE_", flag.substr(2));
  for (char& c : name) {
    c = c == '-'
            ? '_'
            : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

// Adds which flag it was.
absl::Status ForFlag(const Flag& flag, const absl::Status& status) {
  return absl::Status(
      status.code(),
      absl::StrCat(flag.name, ": ", std::string(status.message())));
}

std::vector<Flag> AllFlags() {
  std::vector<Flag> flags(kFlags.begin(), kFlags.end());
  const absl::Span<const Flag> network = NetworkFlags();
  flags.insert(flags.end(), network.begin(), network.end());
  const absl::Span<const Flag> store = StoreFlags();
  flags.insert(flags.end(), store.begin(), store.end());
  return flags;
}

// Splits argv into the flags' texts; nothing is judged yet.
struct RawFlags {
  std::vector<std::string> values;
  std::vector<bool> given;
  std::string text;  // of --help or --version
};

absl::StatusOr<RawFlags> ReadFlags(const std::vector<Flag>& flags, int argc,
                                   const char* const* argv) {
  RawFlags raw{.values = std::vector<std::string>(flags.size()),
               .given = std::vector<bool>(flags.size())};
  CLI::App app(kDescription, "tollgate-server");
  app.footer(kExamples);
  app.set_version_flag("--version",
                       absl::StrCat("tollgate-server ", ServerVersion()));
  std::vector<CLI::Option*> options;
  for (size_t i = 0; i < flags.size(); ++i) {
    options.push_back(
        app.add_option(flags[i].name, raw.values[i], flags[i].help)
            ->type_name(flags[i].type)
            ->envname(EnvironmentName(flags[i].name)));
    if (flags[i].repeatable) options.back()->join(',');
  }
  // CLI11 reports by exceptions; they end here.
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    raw.text = app.help();
  } catch (const CLI::CallForVersion& version) {
    raw.text = absl::StrCat(version.what(), "\n");
  } catch (const CLI::ExtrasError&) {
    return absl::InvalidArgumentError(
        absl::StrCat("got \"", absl::StrJoin(app.remaining(), " "),
                     "\", want only the flags that --help lists"));
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  for (size_t i = 0; i < flags.size(); ++i) {
    raw.given[i] = options[i]->count() > 0;
  }
  return raw;
}

}  // namespace

absl::StatusOr<ParsedFlags> ParseServerFlags(int argc,
                                             const char* const* argv) {
  const std::vector<Flag> flags = AllFlags();
  absl::StatusOr<RawFlags> raw = ReadFlags(flags, argc, argv);
  if (!raw.ok()) return raw.status();
  ParsedFlags parsed;
  parsed.text = raw->text;
  if (!parsed.text.empty()) return parsed;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (!raw->given[i]) continue;
    const absl::Status set = flags[i].set(raw->values[i], parsed.options);
    if (!set.ok()) return ForFlag(flags[i], set);
  }
  absl::Status status = FinishStoreFlags(parsed.options);
  if (status.ok()) status = CheckTogether(parsed.options);
  if (!status.ok()) return status;
  return parsed;
}

const char* ServerVersion() { return TOLLGATE_VERSION; }

}  // namespace tollgate
