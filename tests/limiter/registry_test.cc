#include "server/limiter/registry.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limiter/token_bucket.h"
#include "tests/limiter/limits.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

TEST(Registry, NumbersDomainsInTheOrderOfFirstAppearance) {
  Registry registry;

  const DomainId* shop = registry.Domain("shop");
  const DomainId* bank = registry.Domain("bank");

  EXPECT_EQ(shop->index, 0u);
  EXPECT_EQ(bank->index, 1u);
  EXPECT_EQ(shop->name, "shop");
  EXPECT_EQ(registry.Domain("shop"), shop);
  EXPECT_EQ(registry.domain_count(), 2u);
}

TEST(Registry, NumbersRulesAcrossDomains) {
  Registry registry;

  const RuleId* a = registry.Rule("shop", "a");
  const RuleId* b = registry.Rule("bank", "a");
  const RuleId* c = registry.Rule("shop", "c");

  EXPECT_EQ(a->index, 0u);
  EXPECT_EQ(b->index, 1u);
  EXPECT_EQ(c->index, 2u);
  EXPECT_EQ(c->name, "c");
  EXPECT_EQ(c->domain, registry.Domain("shop"));
  EXPECT_EQ(registry.Rule("bank", "a"), b);
  EXPECT_EQ(registry.rule_count(), 3u);
  EXPECT_EQ(registry.domain_count(), 2u);
}

TEST(Registry, KeepsIdentitiesInPlaceAsItGrows) {
  Registry registry;
  const RuleId* first = registry.Rule("shop", "first");

  for (int i = 0; i < 10'000; ++i) registry.Rule("shop", std::to_string(i));

  EXPECT_EQ(registry.Rule("shop", "first"), first);
  EXPECT_EQ(first->name, "first");
  EXPECT_EQ(first->domain->name, "shop");
  EXPECT_EQ(registry.rule_count(), 10'001u);
}

TEST(RegistryBindLimit, KeepsTheNumberOfALimitThatStays) {
  Registry registry;
  const RuleId& rule = *registry.Rule("shop", "a");

  const uint32_t id =
      *registry.BindLimit(rule, "0", TokenBucket(), PerSecond(10), kStart);

  EXPECT_GE(id, 1u);
  EXPECT_EQ(
      *registry.BindLimit(rule, "0", TokenBucket(), PerSecond(10), kStart + 1),
      id);
  EXPECT_EQ(registry.Version(id).limit, PerSecond(10));
  EXPECT_EQ(registry.Version(id).algorithm, &TokenBucket());
  EXPECT_EQ(registry.Version(id).successor, 0u);
}

TEST(RegistryBindLimit, ChainsTheVersionsOfAChangedLimit) {
  Registry registry;
  const RuleId& rule = *registry.Rule("shop", "a");
  const auto bind = [&](uint64_t tokens, int64_t now_ns) {
    return *registry.BindLimit(rule, "0", TokenBucket(), PerSecond(tokens),
                               now_ns);
  };

  const uint32_t first = bind(10, 100);
  const uint32_t second = bind(20, 200);
  const uint32_t third = bind(10, 300);

  EXPECT_NE(third, first);  // back to 10, but not back in time
  EXPECT_EQ(registry.Version(first).successor, second);
  EXPECT_EQ(registry.Version(first).replaced_at_ns, 200);
  EXPECT_EQ(registry.Version(second).successor, third);
  EXPECT_EQ(registry.Version(second).replaced_at_ns, 300);
  EXPECT_EQ(registry.Version(third).successor, 0u);
}

TEST(RegistryBindLimit, KeepsSlotsAndRulesApart) {
  Registry registry;
  const RuleId& a = *registry.Rule("shop", "a");
  const RuleId& b = *registry.Rule("shop", "b");

  const uint32_t a0 =
      *registry.BindLimit(a, "0", TokenBucket(), PerSecond(1), kStart);
  const uint32_t a1 =
      *registry.BindLimit(a, "1", TokenBucket(), PerSecond(2), kStart);
  const uint32_t b0 =
      *registry.BindLimit(b, "0", TokenBucket(), PerSecond(3), kStart);

  EXPECT_EQ(registry.Version(a0).successor, 0u);
  EXPECT_EQ(registry.Version(a1).successor, 0u);
  EXPECT_EQ(registry.Version(b0).limit, PerSecond(3));
}

TEST(RegistryBindLimit, HoldsManyVersionsWhileOthersReadThem) {
  Registry registry;
  const RuleId& rule = *registry.Rule("shop", "a");
  std::atomic<uint32_t> newest{
      *registry.BindLimit(rule, "0", TokenBucket(), PerSecond(1), 0)};
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    while (!done) {
      const uint32_t id = newest;
      if (registry.Version(id).limit.tokens() != id) ++wrong;
      const uint32_t next = registry.Version(1).successor;
      if (next != 0 && registry.Version(1).replaced_at_ns != 2) ++wrong;
    }
  });

  for (uint32_t i = 2; i <= 10'000; ++i) {
    const absl::StatusOr<uint32_t> id =
        registry.BindLimit(rule, "0", TokenBucket(), PerSecond(i), i);
    ASSERT_THAT(id, IsOk());
    ASSERT_EQ(*id, i);
    newest = *id;
  }
  done = true;
  reader.join();

  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tollgate
