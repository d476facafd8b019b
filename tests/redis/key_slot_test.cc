#include "server/redis/key_slot.h"

#include "gtest/gtest.h"

namespace tollgate::redis {
namespace {

// The check value of CRC16/XMODEM, and what CLUSTER KEYSLOT says of the others.
TEST(KeySlot, IsThatOfARedisCluster) {
  EXPECT_EQ(KeySlot("123456789"), 0x31c3);
  EXPECT_EQ(KeySlot(""), 0);
  EXPECT_EQ(KeySlot("foo"), 12182);
  EXPECT_EQ(KeySlot("\xff\x80"), 4727);
}

TEST(KeySlot, IsThatOfTheHashTagIfThereIsOne) {
  EXPECT_EQ(KeySlot("{user1000}.following"), KeySlot("user1000"));
  EXPECT_EQ(KeySlot("a{b}{c}"), KeySlot("b"));
  EXPECT_EQ(KeySlot("foo{{bar}}zap"), KeySlot("{bar"));
  EXPECT_EQ(KeySlot("tollgate:{shop|per-user|ana}"),
            KeySlot("shop|per-user|ana"));
}

TEST(KeySlot, IsThatOfTheWholeKeyIfTheTagIsEmptyOrOpen) {
  EXPECT_NE(KeySlot("foo{}{bar}"), KeySlot("bar"));
  EXPECT_EQ(KeySlot("foo{}{bar}"), 8363);
  EXPECT_EQ(KeySlot("foo{bar"), 15278);
}

}  // namespace
}  // namespace tollgate::redis
