#ifndef TOLLGATE_SERVER_NET_PEER_LEDGER_H_
#define TOLLGATE_SERVER_NET_PEER_LEDGER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"

namespace tollgate::net {

// How many bytes the calls of each connection account for. A thread that
// answers calls writes a page of its own, without a lock or an allocation; who
// watches the connections adds the pages up. Peers are told apart by a keyed
// hash of their address and port, so that nobody can choose whose credit to
// share; two that share a slot by accident are both judged more mildly.
// Thread-safe.
class PeerLedger {
 public:
  // How a peer is found: made once, for a connection.
  using Slot = uint32_t;

  // What one thread writes. Credit is for that thread alone.
  class Page {
   public:
    explicit Page(const PeerLedger& ledger);
    // A call of `peer` (as SlotOf takes it) accounts for `bytes`.
    void Credit(absl::string_view peer, uint64_t bytes) {
      std::atomic<uint64_t>& cell = cells_[ledger_.SlotOf(peer)];
      // One writer, so no more than a load and a store.
      cell.store(cell.load(std::memory_order_relaxed) + bytes,
                 std::memory_order_relaxed);
    }

   private:
    friend class PeerLedger;
    const PeerLedger& ledger_;
    const std::unique_ptr<std::atomic<uint64_t>[]> cells_;
  };

  // `pages`: 1 or more. 256 KiB each.
  explicit PeerLedger(size_t pages);
  PeerLedger(const PeerLedger&) = delete;
  PeerLedger& operator=(const PeerLedger&) = delete;

  [[nodiscard]] Page& page(size_t index) { return *pages_[index]; }

  // `peer`: ipv4:192.0.2.1:80 or ipv6:[2001:db8::1]:80, whose brackets may be
  // written as %5B and %5D; a scope is not looked at.
  [[nodiscard]] Slot SlotOf(absl::string_view peer) const;

  // What all pages have for the slot.
  [[nodiscard]] uint64_t CreditOf(Slot slot) const;

 private:
  const uint64_t salt_;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace tollgate::net

#endif  // TOLLGATE_SERVER_NET_PEER_LEDGER_H_
