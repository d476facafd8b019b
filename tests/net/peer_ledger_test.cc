#include "server/net/peer_ledger.h"

#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace tollgate::net {
namespace {

TEST(PeerLedger, AddsUpWhatAllThreadsCredit) {
  PeerLedger ledger(4);
  const std::string peer = "ipv4:192.0.2.1:80";
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10'000; ++i) ledger.page(t).Credit(peer, 3);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ledger.CreditOf(ledger.SlotOf(peer)), 120'000U);
}

TEST(PeerLedger, TellsAddressesAndPortsApart) {
  const PeerLedger ledger(1);
  const auto slot = ledger.SlotOf("ipv4:192.0.2.1:80");
  EXPECT_EQ(slot, ledger.SlotOf("ipv4:192.0.2.1:80"));
  // By chance one of them could meet it, hardly two.
  EXPECT_FALSE(slot == ledger.SlotOf("ipv4:192.0.2.1:81") &&
               slot == ledger.SlotOf("ipv4:192.0.2.2:80"));
}

TEST(PeerLedger, KnowsAnAddressHoweverItIsWritten) {
  const PeerLedger ledger(1);
  const auto slot = ledger.SlotOf("ipv6:[fe80::1]:80");
  EXPECT_EQ(slot, ledger.SlotOf("ipv6:%5Bfe80::1%5D:80"));
  EXPECT_EQ(slot, ledger.SlotOf("ipv6:%5Bfe80::1%25eth0%5D:80"));
  EXPECT_EQ(slot, ledger.SlotOf("ipv6:[fe80::1%3]:80"));
}

TEST(PeerLedger, TakesAnyText) {
  const PeerLedger ledger(1);
  (void)ledger.SlotOf("");
  (void)ledger.SlotOf("%");
  (void)ledger.SlotOf("%5");
  (void)ledger.SlotOf(std::string(10'000, '['));
  (void)ledger.SlotOf(std::string(10'000, 'x'));
}

}  // namespace
}  // namespace tollgate::net
