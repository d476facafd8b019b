#include "server/redis/redis_options.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tollgate::redis {
namespace {

constexpr size_t kMaxSeeds = 64;
constexpr size_t kMaxHostBytes = 255;

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("redis URL: ", what));
}

// What %XX escapes stand for; false if one of them is broken.
bool Unescape(absl::string_view text, std::string& out) {
  out.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size() || !absl::ascii_isxdigit(text[i + 1]) ||
        !absl::ascii_isxdigit(text[i + 2])) {
      return false;
    }
    out += absl::HexStringToBytes(text.substr(i + 1, 2));
    i += 2;
  }
  return true;
}

absl::Status ReadScheme(absl::string_view& url) {
  if (absl::ConsumePrefix(&url, "redis://")) return absl::OkStatus();
  if (absl::StartsWith(url, "rediss://")) {
    return Bad(
        "rediss:// (TLS) is not supported by the hiredis that this is built "
        "with; put a TLS proxy, such as stunnel, beside the server and name "
        "it with redis://");
  }
  return Bad(
      "want redis://[USER[:PASSWORD]@]HOST:PORT[,HOST:PORT...]"
      "[/?cluster=auto|yes|no]");
}

absl::Status ReadUser(absl::string_view text, RedisOptions& options) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  if (!Unescape(parts.first, options.user)) {
    return Bad("user: want %XX escapes of two hexadecimal digits");
  }
  if (!Unescape(parts.second, options.password)) {
    return Bad("password: want %XX escapes of two hexadecimal digits");
  }
  return absl::OkStatus();
}

absl::StatusOr<Endpoint> ReadEndpoint(absl::string_view text) {
  Endpoint endpoint;
  absl::string_view host;
  if (absl::ConsumePrefix(&text, "[")) {
    host = text.substr(0, text.find(']'));
    text.remove_prefix(host.size());
    if (!absl::ConsumePrefix(&text, "]")) host = "";
  } else {
    host = text.substr(0, text.find(':'));
    text.remove_prefix(host.size());
  }
  if (host.empty() || host.size() > kMaxHostBytes ||
      !absl::c_all_of(host, absl::ascii_isgraph)) {
    return Bad("address: want HOST:PORT");
  }
  endpoint.host = std::string(host);
  // What follows is not shown: it is the password if the host was forgotten.
  if (!text.empty() &&
      (!absl::ConsumePrefix(&text, ":") ||
       !absl::SimpleAtoi(text, &endpoint.port) || endpoint.port < 1 ||
       endpoint.port > std::numeric_limits<uint16_t>::max())) {
    return Bad(absl::StrCat("address \"", host,
                            "\": want a port of 1 to 65535 after a colon"));
  }
  return endpoint;
}

absl::Status ReadSeeds(absl::string_view text, RedisOptions& options) {
  for (const absl::string_view address : absl::StrSplit(text, ',')) {
    absl::StatusOr<Endpoint> endpoint = ReadEndpoint(address);
    if (!endpoint.ok()) return endpoint.status();
    if (options.seeds.size() == kMaxSeeds) {
      return Bad(absl::StrCat("want at most ", kMaxSeeds, " addresses"));
    }
    options.seeds.push_back(*std::move(endpoint));
  }
  return absl::OkStatus();
}

absl::Status ReadTopology(absl::string_view tail, RedisOptions& options) {
  absl::ConsumePrefix(&tail, "/");
  if (tail.empty()) return absl::OkStatus();
  if (tail == "?cluster=auto") {
    options.topology = Topology::kDetect;
  } else if (tail == "?cluster=yes") {
    options.topology = Topology::kCluster;
  } else if (tail == "?cluster=no") {
    options.topology = Topology::kSingle;
  } else {
    return Bad(absl::StrCat(
        "after the addresses: got \"", absl::CHexEscape(tail),
        "\", want nothing, or ?cluster=auto, yes or no (database 0 is used)"));
  }
  return absl::OkStatus();
}

}  // namespace

std::string Endpoint::ToString() const {
  return absl::StrContains(host, ':') ? absl::StrCat("[", host, "]:", port)
                                      : absl::StrCat(host, ":", port);
}

std::string RedisOptions::ToString() const {
  const auto name = [](std::string* out, const Endpoint& seed) {
    absl::StrAppend(out, seed.ToString());
  };
  return absl::StrCat("redis://", absl::CHexEscape(user),
                      user.empty() ? "" : "@", absl::StrJoin(seeds, ",", name));
}

absl::StatusOr<RedisOptions> ParseRedisUrl(absl::string_view url) {
  RedisOptions options;
  if (absl::Status status = ReadScheme(url); !status.ok()) return status;
  // A password may hold what ends an address.
  const size_t at = url.rfind('@');
  if (at != absl::string_view::npos) {
    absl::Status status = ReadUser(url.substr(0, at), options);
    if (!status.ok()) return status;
    url.remove_prefix(at + 1);
  }
  const size_t end = url.find_first_of("/?");
  absl::Status status = ReadSeeds(url.substr(0, end), options);
  if (!status.ok()) return status;
  if (end != absl::string_view::npos) {
    status = ReadTopology(url.substr(end), options);
    if (!status.ok()) return status;
  }
  return options;
}

}  // namespace tollgate::redis
