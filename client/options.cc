#include "client/options.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/limiter/request.h"

namespace tollgate::client {
namespace {

absl::Status CheckDuration(absl::string_view field, absl::Duration got,
                           absl::Duration least, absl::Duration most) {
  if (got >= least && got <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      field, ": got ", absl::FormatDuration(got), ", want ",
      absl::FormatDuration(least), " to ", absl::FormatDuration(most)));
}

absl::Status CheckCount(absl::string_view field, uint64_t got, uint64_t least,
                        uint64_t most) {
  if (got >= least && got <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": got ", got, ", want ", least, " to ", most));
}

// Says nothing of what a field holds: it may be a key.
absl::Status CheckPem(absl::string_view field, absl::string_view text,
                      absl::string_view want) {
  if (text.empty() || absl::StrContains(text, want)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": got no PEM text with \"", want, "\""));
}

absl::Status CheckTls(const std::optional<TlsOptions>& tls) {
  if (!tls.has_value()) return absl::OkStatus();
  constexpr char kCert[] = "-----BEGIN CERTIFICATE-----";
  for (const absl::Status& status :
       {CheckPem("tls.ca", tls->ca, kCert),
        CheckPem("tls.cert", tls->cert, kCert),
        CheckPem("tls.key", tls->key, "PRIVATE KEY-----")}) {
    if (!status.ok()) return status;
  }
  if (tls->cert.empty() == tls->key.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      tls->key.empty() ? "tls.key: empty, want the key of tls.cert"
                       : "tls.cert: empty, want the certificate of tls.key");
}

absl::Status CheckBalancing(LoadBalancing balancing) {
  switch (balancing) {
    case LoadBalancing::kPickFirst:
    case LoadBalancing::kRoundRobin:
      return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("load_balancing: got ", static_cast<int>(balancing),
                   ", want kPickFirst or kRoundRobin"));
}

absl::Status CheckPolicy(OutagePolicy policy) {
  switch (policy) {
    case OutagePolicy::kBackstop:
    case OutagePolicy::kAllow:
    case OutagePolicy::kRefuse:
      return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("outage_policy: got ", static_cast<int>(policy),
                   ", want kBackstop, kAllow or kRefuse"));
}

}  // namespace

absl::Status ValidateOptions(const ClientOptions& options) {
  if (options.target.empty()) {
    return absl::InvalidArgumentError("target: got \"\", want host:port");
  }
  for (const absl::Status& status : {
           CheckDuration("timeout", options.timeout, absl::Milliseconds(1),
                         absl::Seconds(60)),
           CheckBalancing(options.load_balancing),
           CheckTls(options.tls),
           CheckPolicy(options.outage_policy),
           CheckCount("backstop_tokens", options.backstop_tokens, 1,
                      0xFFFFFFFF),
           CheckDuration("backstop_period", options.backstop_period,
                         absl::Milliseconds(1), absl::Hours(24)),
           CheckCount("breaker_failures", options.breaker_failures, 1, 1000),
           CheckDuration("max_probe_interval", options.max_probe_interval,
                         absl::Milliseconds(1), absl::Seconds(1)),
           CheckDuration("min_probe_interval", options.min_probe_interval,
                         absl::Milliseconds(1), options.max_probe_interval),
           CheckCount("max_in_flight", options.max_in_flight, 1, 65536),
           CheckDuration("refusal_cache_ttl", options.refusal_cache_ttl,
                         absl::ZeroDuration(), absl::Minutes(1)),
           CheckCount("max_batch", options.max_batch, 1, 1000),
       }) {
    if (!status.ok()) return status;
  }
  for (size_t i = 0; i < options.policy_domains.size(); ++i) {
    absl::Status status =
        CheckCount(absl::StrCat("policy_domains[", i, "]: bytes"),
                   options.policy_domains[i].size(), 1, kMaxDomainBytes);
    if (!status.ok()) return status;
  }
  return CheckCount("policy_domains: count", options.policy_domains.size(), 0,
                    1000);
}

}  // namespace tollgate::client
