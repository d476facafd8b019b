// In a binary of its own, because it replaces operator new.
#include <new>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"
#include "tests/limiter/nodes.h"
#include "tests/support/allocation_counter.h"

namespace tollgate {
namespace {

TEST(AllocationCounter, CountsThisThreadsAllocations) {
  const uint64_t before = AllocationsOfThisThread();

  // Calls, which a compiler must keep, where it may drop a new-expression.
  void* const one = ::operator new(1);
  void* const another = ::operator new[](100);

  EXPECT_EQ(AllocationsOfThisThread() - before, 2u);
  ::operator delete(one);
  ::operator delete[](another);
}

// Decides `times` times; the allocations per decision must be none.
uint64_t AllocationsOf(Limiter& limiter, const Request& request, int times) {
  const uint64_t before = AllocationsOfThisThread();
  for (int i = 0; i < times; ++i) limiter.Decide(request);
  return AllocationsOfThisThread() - before;
}

TEST(Limiter, AllocatesNothingForAnExistingKey) {
  FakeClock clock(kStart);
  Limiter limiter(clock);
  SetRules(limiter, {MakeRule("a", {"user"}, {PerSecond(5)}),
                     MakeRule("b", {"user", "ip"}, {PerSecond(9)}),
                     MakeRule("c", {}, {PerSecond(100), PerHour(1000)})});
  const std::string user(100, 'u');
  const std::vector<Entry> entries = {{"user", user},
                                      {"ip", "2001:db8::1"},
                                      {"endpoint", "/login"},
                                      {"method", "POST"}};
  const Descriptor descriptor(entries);
  Request request{"shop", {&descriptor, 1}};
  ASSERT_TRUE(limiter.Decide(request).allowed());  // creates the buckets

  // Some are allowed and the rest refused, with tokens given back.
  EXPECT_EQ(AllocationsOf(limiter, request, 100), 0u);
  request.cost = 0;
  EXPECT_EQ(AllocationsOf(limiter, request, 100), 0u) << "peek";
  request.cost = 1000;
  EXPECT_EQ(AllocationsOf(limiter, request, 100), 0u) << "impossible";
  request.deadline_ns = 0;
  EXPECT_EQ(AllocationsOf(limiter, request, 100), 0u) << "expired";
}

TEST(Limiter, AllocatesNothingToCountARefusalOfAKeyThatItRemembers) {
  FakeClock clock(kStart);
  Limiter limiter(
      clock,
      LimiterOptions{.refused_keys = {.mode = RefusedKeysOptions::Mode::kOn}});
  SetRules(limiter, {MakeRule("a", {"user"}, {PerHour(1)})});
  const std::vector<Entry> entries = {{"user", "ana"}};
  const Descriptor descriptor(entries);
  const Request request{"shop", {&descriptor, 1}};
  limiter.Decide(request);
  limiter.Decide(request);  // is refused, and remembered

  EXPECT_EQ(AllocationsOf(limiter, request, 100), 0u);
  const auto report = limiter.ReportRefusedKeys({"", "", 1, 1});
  EXPECT_EQ(report->rules.at(0).total, 101u);
}

TEST(Limiter, AllocatesNothingForTheExistingKeysOfDescriptors) {
  FakeClock clock(kStart);
  Limiter limiter(clock);
  SetRules(limiter, {NodeAt({{"user", ""}}, {Written(5), Written(50)}),
                     NodeAt({{"path", "/a*"}}, {Written(9)})});
  const std::vector<Entry> user = {{"user", "ana"}};
  const std::vector<Entry> path = {{"path", "/api"}};
  const std::vector<Descriptor> descriptors = {user, path, path};
  const std::vector<DescriptorTerms> terms = {
      {}, Hits(2), Override(3, LimitUnit::kHour)};
  Request request{"shop", descriptors};
  request.terms = terms;
  ASSERT_TRUE(limiter.Decide(request).allowed());  // creates the buckets

  EXPECT_EQ(AllocationsOf(limiter, request, 100), 0u);
  request.cost = 0;
  EXPECT_EQ(AllocationsOf(limiter, request, 100), 0u) << "peek";
}

}  // namespace
}  // namespace tollgate
