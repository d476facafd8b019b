#include "server/app/network_flags.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace tollgate {
namespace {

constexpr int kManyConnections = 1'000'000;

absl::Status SetIdentities(const std::string& value,
                           std::vector<std::string>& out) {
  out = absl::StrSplit(value, ',');
  for (const std::string& identity : out) {
    if (identity.empty()) {
      return BadFlag(value, "a DNS name or URI, such as spiffe://prod/shop");
    }
  }
  return absl::OkStatus();
}

// Given again, they come together: DOMAIN=SAN,DOMAIN=SAN.
absl::Status SetDomainIdentities(const std::string& value,
                                 ServerOptions& options) {
  options.domain_identities.clear();
  for (const absl::string_view pair : absl::StrSplit(value, ',')) {
    const size_t equals = pair.find('=');
    if (equals == 0 || equals >= pair.size() - 1) {  // npos is the largest
      return BadFlag(value,
                     "a domain and a DNS name or URI, such as "
                     "shop=spiffe://prod/shop");
    }
    options.domain_identities[pair.substr(0, equals)].emplace_back(
        pair.substr(equals + 1));
  }
  return absl::OkStatus();
}

// Whether only this machine reaches `listen`, HOST:PORT.
bool IsLoopback(absl::string_view listen) {
  return absl::StartsWith(listen, "127.") ||
         absl::StartsWith(listen, "localhost:") ||
         absl::StartsWith(listen, "[::1]:");
}

constexpr std::array kFlags = {
    Flag{"--listen", "HOST:PORT",
         "Where gRPC clients connect; port 0 takes a free one "
         "[127.0.0.1:8081]",
         [](const std::string& v, ServerOptions& o) {
           return SetAddress(v, o.listen);
         }},
    Flag{"--http-listen", "HOST:PORT",
         "Where /, /metrics, /healthz, /readyz, /json and /check are; port 0 "
         "takes a free one, \"\" or off means no HTTP [127.0.0.1:8080]",
         [](const std::string& v, ServerOptions& o) {
           if (!v.empty() && v != "off") return SetAddress(v, o.http_listen);
           o.http_listen.clear();
           return absl::OkStatus();
         }},
    Flag{"--http-check", "on|off",
         "Whether /json and /check decide over HTTP, where nobody shows a "
         "certificate, whatever --tls-client-ca says [on]",
         [](const std::string& v, ServerOptions& o) {
           if (v != "on" && v != "off") return BadFlag(v, "on or off");
           o.http_check = v == "on";
           return absl::OkStatus();
         }},
    Flag{"--health-listen", "HOST:PORT",
         "Where gRPC health alone is, in plain text, for probes that cannot do "
         "TLS; it also tells whether --listen still accepts. Port 0 takes a "
         "free one [none]",
         [](const std::string& v, ServerOptions& o) {
           return SetAddress(v, o.health_listen);
         }},
    Flag{"--tls-cert", "FILE",
         "Serve gRPC over TLS: PEM, the server's certificate, then those up to "
         "its authority. Goes with --tls-key. Replaced files hold for new "
         "connections, without a restart",
         [](const std::string& v, ServerOptions& o) {
           o.tls_cert = v;
           return absl::OkStatus();
         }},
    Flag{"--tls-key", "FILE", "PEM: the key of --tls-cert, without a password",
         [](const std::string& v, ServerOptions& o) {
           o.tls_key = v;
           return absl::OkStatus();
         }},
    Flag{"--tls-client-ca", "FILE",
         "PEM: authorities; whoever has no certificate of theirs cannot "
         "connect (mTLS). Unless given, clients need none",
         [](const std::string& v, ServerOptions& o) {
           o.tls_client_ca = v;
           return absl::OkStatus();
         }},
    Flag{"--tls-allow-identity", "SAN",
         "Who may ask: a DNS name or URI of the client's certificate, as "
         "written there. May be given again. Unless given, all with a "
         "certificate of --tls-client-ca",
         [](const std::string& v, ServerOptions& o) {
           return SetIdentities(v, o.tls_allow_identities);
         },
         /*repeatable=*/true},
    Flag{"--domain-identity", "DOMAIN=SAN",
         "Who of them may ask about a domain of the rules. May be given again, "
         "also for one domain. One that has none is for all who may ask. Goes "
         "with --admin-identity or --admin=off",
         SetDomainIdentities, /*repeatable=*/true},
    Flag{"--admin-identity", "SAN",
         "Who may call Admin; may be given again. Unless given, all who may "
         "ask",
         [](const std::string& v, ServerOptions& o) {
           return SetIdentities(v, o.admin_identities);
         },
         /*repeatable=*/true},
    Flag{"--admin", "on|off",
         "Whether anybody may call Admin (rules, explain, peek, reset, top) "
         "[on]",
         [](const std::string& v, ServerOptions& o) {
           if (v != "on" && v != "off") return BadFlag(v, "on or off");
           o.admin = v == "on";
           return absl::OkStatus();
         }},
    Flag{"--max-connections", "N",
         "gRPC connections at a time, two descriptors each; more are reset. 0 "
         "is as many as descriptors allow [10000]",
         [](const std::string& v, ServerOptions& o) {
           return SetInt(v, 0, kManyConnections, o.max_connections);
         }},
    Flag{"--max-connections-per-address", "N",
         "Those of one address, or of one IPv6 /64 network; 0 is no limit "
         "[5000]",
         [](const std::string& v, ServerOptions& o) {
           return SetInt(v, 0, kManyConnections, o.max_connections_per_address);
         }},
    Flag{"--flood-bytes", "N",
         "A connection is cut once it has sent so much more than its calls "
         "account for: streams reset at once, headers or bodies without an "
         "end. The messages under way at a time must fit in. Before its calls "
         "have accounted for much, it may owe at most 96 KiB and one message. "
         "0 is off [128 KiB and 4 times --max-message-bytes]",
         [](const std::string& v, ServerOptions& o) {
           int64_t bytes = 0;
           const absl::Status status =
               SetInt<int64_t>(v, 0, int64_t{1} << 40, bytes);
           if (status.ok()) o.flood_bytes = static_cast<uint64_t>(bytes);
           return status;
         }},
    Flag{"--flood-block", "DURATION",
         "How long an address gets no further connections once one of its was "
         "cut for that, 0s to 1h; 0s is not at all [1s]",
         [](const std::string& v, ServerOptions& o) {
           return SetDuration(v, absl::ZeroDuration(), absl::Hours(1),
                              "a duration from 0s to 1h, such as 1s",
                              o.flood_block);
         }},
    Flag{"--slow-reader-timeout", "DURATION",
         "A connection is cut once what is sent to it waits for so long, 0s to "
         "1h; 0s is off [20s]",
         [](const std::string& v, ServerOptions& o) {
           return SetDuration(v, absl::ZeroDuration(), absl::Hours(1),
                              "a duration from 0s to 1h, such as 20s",
                              o.slow_reader_timeout);
         }},
    Flag{"--max-connection-age", "DURATION",
         "How old a connection gets before its client is told to make another, "
         "so that load follows new servers and new certificates; 1s to 24h "
         "[5m]",
         [](const std::string& v, ServerOptions& o) {
           return SetDuration(v, absl::Seconds(1), absl::Hours(24),
                              "a duration from 1s to 24h, such as 5m",
                              o.max_connection_age);
         }},
};

}  // namespace

absl::Span<const Flag> NetworkFlags() { return kFlags; }

std::string WarningOf(const ServerOptions& options) {
  if (options.tls_client_ca.empty() || options.http_listen.empty() ||
      !options.http_check || IsLoopback(options.http_listen)) {
    return "";
  }
  return absl::StrCat("whoever reaches --http-listen=", options.http_listen,
                      " may ask without a certificate, by /json and /check: "
                      "--http-check=off takes them away");
}

}  // namespace tollgate
