#include "server/base/address.h"

#include <string>

#include "gtest/gtest.h"

namespace tollgate {
namespace {

// The network as text, or "none".
std::string NetworkOf(absl::string_view text, int v4_bits = 32,
                      int v6_bits = 128) {
  Network network;
  return ParseNetwork(text, v4_bits, v6_bits, network) ? network.ToString()
                                                       : "none";
}

TEST(ParseNetwork, TakesAnIpv4Address) {
  EXPECT_EQ(NetworkOf("192.0.2.1"), "192.0.2.1/32");
  EXPECT_EQ(NetworkOf("0.0.0.0"), "0.0.0.0/32");
  EXPECT_EQ(NetworkOf("255.255.255.255"), "255.255.255.255/32");
}

TEST(ParseNetwork, GivesOneFormToEveryWayToWriteAnIpv6Address) {
  for (const char* text :
       {"2001:db8::1", "2001:DB8::1", "2001:0db8::0001", "2001:db8:0::0:1",
        "2001:db8:0:0:0:0:0:1", "2001:0db8:0000:0000:0000:0000:0000:0001",
        "2001:db8::0.0.0.1"}) {
    EXPECT_EQ(NetworkOf(text), "2001:db8::1/128") << text;
  }
  EXPECT_EQ(NetworkOf("::"), "::/128");
  EXPECT_EQ(NetworkOf("::1"), "::1/128");
}

TEST(ParseNetwork, SeesTheIpv4AddressInAMappedOrTranslatedOne) {
  for (const char* text :
       {"::ffff:192.0.2.1", "::FFFF:c000:201", "0:0:0:0:0:ffff:192.0.2.1",
        "64:ff9b::192.0.2.1", "64:ff9b::c000:201",
        "0064:ff9b:0:0:0:0:c000:0201"}) {
    EXPECT_EQ(NetworkOf(text), "192.0.2.1/32") << text;
  }
  // Neighbours of those prefixes are IPv6.
  EXPECT_EQ(NetworkOf("::fffe:192.0.2.1"), "::fffe:c000:201/128");
  EXPECT_EQ(NetworkOf("64:ff9b:1::192.0.2.1"), "64:ff9b:1::c000:201/128");
  EXPECT_EQ(NetworkOf("64:ff9c::192.0.2.1"), "64:ff9c::c000:201/128");
}

TEST(ParseNetwork, KeepsTheLeadingBits) {
  EXPECT_EQ(NetworkOf("203.0.113.255", 24, 64), "203.0.113.0/24");
  EXPECT_EQ(NetworkOf("203.0.113.255", 31, 64), "203.0.113.254/31");
  EXPECT_EQ(NetworkOf("203.0.113.255", 1, 64), "128.0.0.0/1");
  EXPECT_EQ(NetworkOf("203.0.113.255", 0, 64), "0.0.0.0/0");
  EXPECT_EQ(NetworkOf("2001:db8:1:2:3:4:5:6", 32, 64), "2001:db8:1:2::/64");
  EXPECT_EQ(NetworkOf("2001:db8:1:2:3:4:5:6", 32, 56), "2001:db8:1::/56");
  EXPECT_EQ(NetworkOf("2001:db8:1:ff:3:4:5:6", 32, 60), "2001:db8:1:f0::/60");
  EXPECT_EQ(NetworkOf("ffff::", 32, 1), "8000::/1");
  EXPECT_EQ(NetworkOf("ffff::", 32, 0), "::/0");
  // The bits of the family that it is, once unwrapped.
  EXPECT_EQ(NetworkOf("::ffff:203.0.113.9", 24, 64), "203.0.113.0/24");
}

TEST(ParseNetwork, RefusesWhatIsNoAddressAndLeavesTheNetworkAlone) {
  const std::string nul("192.0.2.1\0", 10);
  const std::string nul_middle("1.2\0.3.4", 8);
  for (const absl::string_view text : std::initializer_list<absl::string_view>{
           "",
           " ",
           "localhost",
           "192.0.2",
           "192.0.2.1.5",
           "192.0.2.256",
           "192.0.2.01",
           "0300.0.2.1",
           "0x7f.0.0.1",
           "3221225985",
           "192.0.2.1:80",
           "192.0.2.1 ",
           " 192.0.2.1",
           "192.0.2.1/32",
           "-1.0.0.1",
           ":",
           ":::",
           "1::2::3",
           "2001:db8::12345",
           "2001:db8::g",
           "1:2:3:4:5:6:7",
           "1:2:3:4:5:6:7:8:9",
           "[2001:db8::1]",
           "[2001:db8::1]:80",
           "fe80::1%eth0",
           "fe80::1%1",
           "2001:db8::/32",
           "::ffff:192.0.2.256",
           "::ffff:192.0.2.01",
           "0000:0000:0000:0000:0000:ffff:192.000.002.001",
           "00000000000000000000000000000000000000000000000000000000000000001",
           nul,
           nul_middle}) {
    Network network;
    network.prefix_bits = 77;
    EXPECT_FALSE(ParseNetwork(text, 32, 64, network)) << text;
    EXPECT_EQ(network.prefix_bits, 77);
  }
}

TEST(ParseNetwork, TheLongestFormOfAnAddressFits) {
  EXPECT_EQ(NetworkOf("0000:0000:0000:0000:0000:ffff:255.255.255.255"),
            "255.255.255.255/32");
}

TEST(Network, KeysOfDifferentNetworksDiffer) {
  const auto key = [](absl::string_view text, int v4, int v6) {
    Network network;
    EXPECT_TRUE(ParseNetwork(text, v4, v6, network));
    return std::string(network.AsKey());
  };

  EXPECT_EQ(key("192.0.2.1", 32, 64), key("::ffff:192.0.2.1", 32, 64));
  EXPECT_EQ(key("192.0.2.1", 24, 64), key("192.0.2.200", 24, 64));
  EXPECT_NE(key("192.0.2.0", 24, 64), key("192.0.2.0", 32, 64));
  EXPECT_NE(key("192.0.2.0", 24, 64), key("192.0.3.0", 24, 64));
  EXPECT_NE(key("0.0.0.0", 0, 0), key("::", 0, 0));
}

}  // namespace
}  // namespace tollgate
