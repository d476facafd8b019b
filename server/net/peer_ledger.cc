#include "server/net/peer_ledger.h"

#include <array>
#include <cstring>

#include "absl/hash/hash.h"
#include "absl/strings/match.h"
#include "server/base/keyed_hash.h"

namespace tollgate::net {
namespace {

constexpr size_t kSlots = size_t{1} << 15;

uint64_t RandomSalt() {
  const HashKey key = RandomHashKey();
  uint64_t salt = 0;
  std::memcpy(&salt, key.bytes.data(), sizeof(salt));
  return salt;
}

}  // namespace

PeerLedger::Page::Page(const PeerLedger& ledger)
    : ledger_(ledger),
      cells_(std::make_unique<std::atomic<uint64_t>[]>(kSlots)) {}

PeerLedger::PeerLedger(size_t pages) : salt_(RandomSalt()) {
  for (size_t i = 0; i < pages; ++i) {
    pages_.push_back(std::make_unique<Page>(*this));
  }
}

PeerLedger::Slot PeerLedger::SlotOf(absl::string_view peer) const {
  // The address and the port, without what releases of gRPC write in different
  // ways. Longer than any of them is cut, which only makes peers meet.
  std::array<char, 64> text;
  size_t size = 0;
  bool scope = false;
  for (size_t i = 0; i < peer.size() && size < text.size(); ++i) {
    char c = peer[i];
    if (c == '%' && absl::StartsWith(peer.substr(i), "%5B")) {
      i += 2;
      continue;
    }
    if (c == '%' && absl::StartsWith(peer.substr(i), "%5D")) {
      i += 2;
      c = ']';
    }
    if (c == '%') scope = true;
    if (c == ']') scope = false;
    if (scope || c == '[' || c == ']') continue;
    text[size++] = c;
  }
  return static_cast<Slot>(
      absl::HashOf(salt_, absl::string_view(text.data(), size)) % kSlots);
}

uint64_t PeerLedger::CreditOf(Slot slot) const {
  uint64_t sum = 0;
  for (const auto& page : pages_) {
    sum += page->cells_[slot].load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace tollgate::net
