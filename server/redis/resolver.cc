#include "server/redis/resolver.h"

#include <netdb.h>

#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace tollgate::redis {
namespace {

std::vector<Address> LookUp(const Endpoint& endpoint, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* found = nullptr;
  if (::getaddrinfo(endpoint.host.c_str(), absl::StrCat(endpoint.port).c_str(),
                    &hints, &found) != 0) {
    return {};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found,
                                                             ::freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Address& address = addresses.emplace_back();
    std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
    address.size = one->ai_addrlen;
  }
  return addresses;
}

}  // namespace

std::optional<Address> NumericAddress(const Endpoint& endpoint) {
  const std::vector<Address> found = LookUp(endpoint, AI_NUMERICHOST);
  if (found.empty()) return std::nullopt;
  return found.front();
}

Resolver::Resolver(std::function<void()> ring)
    : ring_(std::move(ring)), thread_([this] {
        LookUpAll();
        return absl::Hours(1);
      }) {}

void Resolver::Ask(const Endpoint& endpoint) {
  {
    const MutexLock lock(mutex_);
    asked_.push_back(endpoint);
  }
  thread_.Wake();
}

std::vector<std::pair<Endpoint, std::vector<Address>>> Resolver::Take() {
  const MutexLock lock(mutex_);
  return std::exchange(found_, {});
}

void Resolver::LookUpAll() {
  std::vector<Endpoint> asked;
  {
    const MutexLock lock(mutex_);
    asked.swap(asked_);
  }
  for (const Endpoint& endpoint : asked) {
    std::vector<Address> addresses = LookUp(endpoint, 0);
    {
      const MutexLock lock(mutex_);
      found_.emplace_back(endpoint, std::move(addresses));
    }
    ring_();
  }
}

}  // namespace tollgate::redis
