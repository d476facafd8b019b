#include "server/app/store_flags.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tollgate {
namespace {

constexpr char kPasswordVariable[] = "TOLLGATE_STORE_PASSWORD";
// Tokens of cloud providers take a few kilobytes.
constexpr size_t kMaxPasswordBytes = 65'536;

absl::Status SetStore(const std::string& value, ServerOptions& options) {
  if (value != "memory") {
    const auto url = redis::ParseRedisUrl(value);
    if (!url.ok()) return url.status();
  }
  options.store = value;
  return absl::OkStatus();
}

absl::Status SetPasswordFile(const std::string& value, ServerOptions& options) {
  if (value.empty()) return BadFlag(value, "the path of a file");
  options.store_password_file = value;
  return absl::OkStatus();
}

absl::Status SetStoreTimeout(const std::string& value, ServerOptions& options) {
  return SetDuration(value, absl::Milliseconds(1), absl::Seconds(10),
                     "a duration from 1ms to 10s, such as 10ms",
                     options.store_timeout);
}

constexpr std::array kFlags = {
    Flag{"--store", "memory|URL",
         "Where buckets live: in this process, or in a Redis that replicas "
         "share, redis://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...] "
         "[memory]",
         SetStore},
    Flag{"--store-password-file", "FILE",
         "Holds Redis' password, which in --store all users of the machine "
         "could see; read once, at the start. Or set TOLLGATE_STORE_PASSWORD",
         SetPasswordFile},
    Flag{"--store-timeout", "DURATION",
         "How long a request waits for Redis before its rules' on_outage "
         "decides, 1ms to 10s [10ms]",
         SetStoreTimeout},
    Flag{"--replicas", "N",
         "Servers that share each limit while Redis is out of reach, for rules "
         "with on_outage: backstop [1]",
         [](const std::string& v, ServerOptions& o) {
           return SetInt<uint32_t>(v, 1, 10'000, o.replicas);
         }},
    Flag{"--start-without-store", "BOOL",
         "true: be ready, by the outage policies, also before Redis has "
         "answered once [false]",
         [](const std::string& v, ServerOptions& o) {
           return SetBool(v, o.start_without_store);
         }},
};

absl::Status BadFile(const std::string& path, absl::string_view wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat("--store-password-file: got \"", path, "\", want ", wanted));
}

// The file's text without the line end that editors put there.
absl::StatusOr<std::string> ReadPassword(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path.c_str(), "re"), &std::fclose);
  const auto unreadable = [&path] {
    return BadFile(
        path, absl::StrCat("a file that can be read: ", std::strerror(errno)));
  };
  if (file == nullptr) return unreadable();
  std::string text(kMaxPasswordBytes + 2, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return unreadable();
  if (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.empty() || text.size() > kMaxPasswordBytes) {
    return BadFile(
        path, absl::StrCat("a password of 1 to ", kMaxPasswordBytes,
                           " bytes, has ", text.empty() ? "none" : "more"));
  }
  return text;
}

}  // namespace

absl::Span<const Flag> StoreFlags() { return kFlags; }

absl::Status FinishStoreFlags(ServerOptions& options) {
  const char* const variable = std::getenv(kPasswordVariable);
  options.store_password = variable == nullptr ? "" : variable;
  std::string from;  // where the password is, as far as looked
  if (options.store != "memory") {
    const auto redis = redis::ParseRedisUrl(options.store);
    if (!redis.ok()) return redis.status();
    if (!redis->password.empty()) from = "the URL of --store";
  }
  const std::array<std::pair<const char*, bool>, 2> places = {{
      {"--store-password-file", !options.store_password_file.empty()},
      {kPasswordVariable, !options.store_password.empty()},
  }};
  for (const auto& [place, given] : places) {
    if (!given) continue;
    if (options.store == "memory") {
      return absl::InvalidArgumentError(absl::StrCat(
          place, ": does not go without a --store that asks for a password"));
    }
    if (!from.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(place, ": there is a password in ", from,
                       " too, want it in one place"));
    }
    from = place;
  }
  return absl::OkStatus();
}

absl::StatusOr<redis::RedisOptions> RedisOf(const ServerOptions& options) {
  absl::StatusOr<redis::RedisOptions> redis =
      redis::ParseRedisUrl(options.store);
  if (!redis.ok()) return redis.status();
  if (!options.store_password.empty()) redis->password = options.store_password;
  if (!options.store_password_file.empty()) {
    absl::StatusOr<std::string> password =
        ReadPassword(options.store_password_file);
    if (!password.ok()) return password.status();
    redis->password = *std::move(password);
  }
  return redis;
}

}  // namespace tollgate
