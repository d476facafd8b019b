#include "server/limiter/match_index.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/address.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"
#include "tests/support/seeds.h"

namespace tollgate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A rule with these exact values, and a key of these parts.
Rule Matching(const std::vector<std::pair<std::string, std::string>>& match,
              const std::vector<std::vector<std::string>>& key = {}) {
  Rule rule = MakeRule("r", {}, {PerSecond(1)});
  for (const auto& [entry, value] : match) {
    rule.match.push_back(Is(entry, value));
  }
  for (const auto& entries : key) rule.key.push_back(Part(entries));
  return rule;
}

// An index together with the rules it was made of.
class Indexed {
 public:
  explicit Indexed(std::vector<Rule> rules) {
    std::vector<const Rule*> pointers;
    for (const Rule& rule : rules) pointers.push_back(&rule);
    index_ = MatchIndex(pointers);
  }

  std::vector<uint32_t> Match(const std::vector<Entry>& entries) const {
    MatchIndex::Positions positions;
    index_.Match(index_.Resolve(entries), positions);
    return {positions.begin(), positions.end()};
  }

  std::string Key(uint32_t position, const std::vector<Entry>& entries) const {
    MatchIndex::Scratch scratch;
    return std::string(
        index_.KeyOf(position, index_.Resolve(entries), scratch));
  }

 private:
  MatchIndex index_;
};

TEST(MatchIndex, FindsNothingWithoutRules) {
  EXPECT_THAT(Indexed({}).Match({{"user", "ana"}}), IsEmpty());
}

TEST(MatchIndex, FindsARuleThatAsksForNothing) {
  const Indexed index({Matching({})});

  EXPECT_THAT(index.Match({{"user", "ana"}}), ElementsAre(0));
}

TEST(MatchIndex, FindsARuleByItsValueAlone) {
  const Indexed index({Matching({{"endpoint", "/login"}})});

  EXPECT_THAT(index.Match({{"endpoint", "/login"}}), ElementsAre(0));
  EXPECT_THAT(index.Match({{"endpoint", "/logout"}}), IsEmpty());
  EXPECT_THAT(index.Match({{"endpoint", ""}}), IsEmpty());
  EXPECT_THAT(index.Match({{"user", "/login"}}), IsEmpty());
}

TEST(MatchIndex, WantsAllEntriesInAnyOrderAmongOthers) {
  const Indexed index({Matching({{"a", "1"}, {"b", "2"}})});

  EXPECT_THAT(index.Match({{"a", "1"}, {"b", "2"}}), ElementsAre(0));
  EXPECT_THAT(index.Match({{"b", "2"}, {"x", "9"}, {"a", "1"}}),
              ElementsAre(0));
  EXPECT_THAT(index.Match({{"a", "1"}}), IsEmpty());
  EXPECT_THAT(index.Match({{"a", "2"}, {"b", "1"}}), IsEmpty());
}

TEST(MatchIndex, WantsTheEntriesOfTheKeyWithAnyValue) {
  const Indexed index({Matching({}, {{"user"}, {"ip"}})});

  EXPECT_THAT(index.Match({{"user", "ana"}, {"ip", ""}}), ElementsAre(0));
  EXPECT_THAT(index.Match({{"user", "ana"}}), IsEmpty());
  EXPECT_THAT(index.Match({{"ip", "::1"}}), IsEmpty());
}

TEST(MatchIndex, WantsOneOfTheAlternativesOfAKeyPart) {
  const Indexed index({Matching({}, {{"api_key", "ip"}})});

  EXPECT_THAT(index.Match({{"api_key", "k"}}), ElementsAre(0));
  EXPECT_THAT(index.Match({{"ip", "::1"}}), ElementsAre(0));
  EXPECT_THAT(index.Match({{"ip", "::1"}, {"api_key", "k"}}), ElementsAre(0));
  EXPECT_THAT(index.Match({{"user", "ana"}}), IsEmpty());
}

TEST(MatchIndex, AnEntryMayBeMatchedAndBePartOfTheKey) {
  const Indexed index({Matching({{"user", "ana"}}, {{"user"}})});

  EXPECT_THAT(index.Match({{"user", "ana"}}), ElementsAre(0));
  EXPECT_THAT(index.Match({{"user", "bob"}}), IsEmpty());
}

TEST(MatchIndex, SeesTheFirstWhereAKeyOccursTwice) {
  const Indexed index(
      {Matching({{"a", "1"}}), Matching({{"a", "2"}}), Matching({}, {{"a"}})});

  EXPECT_THAT(index.Match({{"a", "1"}, {"a", "2"}}), ElementsAre(0, 2));
  EXPECT_THAT(index.Match({{"a", "2"}, {"a", "1"}}), ElementsAre(1, 2));
  EXPECT_EQ(index.Key(2, {{"a", "1"}, {"a", "2"}}), index.Key(2, {{"a", "1"}}));
}

TEST(MatchIndex, GivesPositionsInAscendingOrderAndKeepsWhatIsThere) {
  const Indexed index({Matching({{"b", "2"}}), Matching({}),
                       Matching({{"a", "1"}}), Matching({{"b", "2"}})});

  EXPECT_THAT(index.Match({{"a", "1"}, {"b", "2"}}), ElementsAre(0, 1, 2, 3));
}

TEST(MatchIndex, AppendsToTheListItIsGiven) {
  const Rule rule = Matching({});
  const Rule* const pointer = &rule;
  const MatchIndex index(absl::MakeConstSpan(&pointer, 1));
  MatchIndex::Positions positions = {7};
  const Entry entry = {"user", "ana"};

  index.Match(index.Resolve({&entry, 1}), positions);

  EXPECT_THAT(positions, ElementsAre(7, 0));
}

TEST(MatchIndexKey, IsEmptyForARuleWithoutKey) {
  EXPECT_EQ(Indexed({Matching({})}).Key(0, {{"user", "ana"}}), "");
}

TEST(MatchIndexKey, IsTheSameInAnyOrderOfEntries) {
  const Indexed index({Matching({}, {{"a"}, {"b"}})});

  EXPECT_EQ(index.Key(0, {{"a", "1"}, {"b", "2"}}),
            index.Key(0, {{"b", "2"}, {"c", "3"}, {"a", "1"}}));
  EXPECT_NE(index.Key(0, {{"a", "1"}, {"b", "2"}}),
            index.Key(0, {{"a", "2"}, {"b", "1"}}));
}

TEST(MatchIndexKey, DoesNotConfuseWhereAValueEnds) {
  const Indexed index({Matching({}, {{"a"}, {"b"}})});
  const auto key = [&](absl::string_view a, absl::string_view b) {
    return index.Key(0, {{"a", a}, {"b", b}});
  };

  EXPECT_NE(key("a|b", "c"), key("a", "b|c"));
  EXPECT_NE(key("ab", "c"), key("a", "bc"));
  EXPECT_NE(key("", "x"), key("x", ""));
  EXPECT_NE(key(absl::string_view("\0", 1), ""),
            key("", absl::string_view("\0", 1)));
  // A value that looks like the prefix and the start of the next one.
  EXPECT_NE(key(absl::string_view("\1\0\0\0x", 5), "y"),
            key("", absl::string_view("\1\0\0\0xy", 6)));
}

TEST(MatchIndexKey, KeepsAlternativesWithEqualValuesApart) {
  const Indexed index({Matching({}, {{"api_key", "ip"}})});

  EXPECT_NE(index.Key(0, {{"api_key", "10.0.0.1"}}),
            index.Key(0, {{"ip", "10.0.0.1"}}));
}

TEST(MatchIndexKey, TakesTheFirstAlternativeThatIsThere) {
  const Indexed index({Matching({}, {{"api_key", "ip"}})});

  EXPECT_EQ(index.Key(0, {{"ip", "::1"}, {"api_key", "k"}}),
            index.Key(0, {{"api_key", "k"}}));
}

TEST(MatchIndexKey, HoldsLongValues) {
  const Indexed index({Matching({}, {{"a"}})});
  const std::string longest(4096, 'v');
  const std::string other = std::string(4095, 'v') + 'w';

  EXPECT_GE(index.Key(0, {{"a", longest}}).size(), 4096u);
  EXPECT_NE(index.Key(0, {{"a", longest}}), index.Key(0, {{"a", other}}));
}

TEST(MatchIndex, FindsEachOf10000Rules) {
  std::vector<Rule> rules;
  for (int i = 0; i < 10'000; ++i) {
    rules.push_back(
        Matching({{"endpoint", "/" + std::to_string(i)}}, {{"user"}}));
  }
  const Indexed index(std::move(rules));

  for (uint32_t i = 0; i < 10'000; ++i) {
    const std::string endpoint = "/" + std::to_string(i);
    ASSERT_THAT(index.Match({{"endpoint", endpoint}, {"user", "ana"}}),
                ElementsAre(i));
  }
  EXPECT_THAT(index.Match({{"endpoint", "/10000"}, {"user", "ana"}}),
              IsEmpty());
}

// What the index must find, by looking at every rule.
class NaiveMatcher {
 public:
  static bool Applies(const Rule& rule, const std::vector<Entry>& entries) {
    const auto has = [&](const KeySource& source) {
      const Entry* entry = Find(entries, source.entry);
      Network unused;
      return entry != nullptr && (!source.prefix.has_value() ||
                                  ParseNetwork(entry->value, 32, 64, unused));
    };
    return std::all_of(rule.match.begin(), rule.match.end(),
                       [&](const Condition& condition) {
                         const Entry* entry = Find(entries, condition.key);
                         return entry != nullptr &&
                                std::any_of(condition.any_of.begin(),
                                            condition.any_of.end(),
                                            [&](const Pattern& pattern) {
                                              return Like(pattern.ToString(),
                                                          entry->value);
                                            });
                       }) &&
           std::all_of(rule.key.begin(), rule.key.end(),
                       [&](const KeyPart& part) {
                         return std::any_of(part.alternatives.begin(),
                                            part.alternatives.end(), has);
                       });
  }

 private:
  // By trying every length for the first wildcard.
  static bool Like(absl::string_view pattern, absl::string_view value) {
    if (pattern.empty()) return value.empty();
    if (pattern[0] != '*') {
      return !value.empty() && value[0] == pattern[0] &&
             Like(pattern.substr(1), value.substr(1));
    }
    for (size_t n = 0; n <= value.size(); ++n) {
      if (Like(pattern.substr(1), value.substr(n))) return true;
    }
    return false;
  }
  static const Entry* Find(const std::vector<Entry>& entries,
                           absl::string_view key) {
    for (const Entry& entry : entries) {
      if (entry.key == key) return &entry;
    }
    return nullptr;
  }
};

// Rules and descriptors over few keys and values, so that they meet often.
class RandomWorld {
 public:
  explicit RandomWorld(uint32_t seed) : random_(seed) {}

  Rule MakeRandomRule() {
    std::vector<std::string> keys = {"a", "b", "c", "d", "e", "f"};
    std::shuffle(keys.begin(), keys.end(), random_);
    Rule rule = Matching({});
    size_t next = 0;
    for (uint32_t i = Below(3); i > 0; --i) {
      static constexpr const char* kPatterns[] = {
          "0", "1", "2", "00", "1*", "*0", "0*1", "*", "2*2*", "::*"};
      std::vector<std::string> any_of = {kPatterns[Below(10)]};
      while (Below(3) == 0) any_of.push_back(kPatterns[Below(10)]);
      rule.match.push_back(IsLike(keys[next++], any_of));
    }
    next = Below(2) == 0 ? next : 0;  // the key may reuse matched entries
    for (uint32_t i = Below(3); i > 0; --i) {
      KeyPart part;
      for (uint32_t j = Below(4) == 0 ? 2 : 1; j > 0 && next < 6; --j) {
        part.alternatives.push_back({keys[next++], std::nullopt});
        if (Below(4) == 0) part.alternatives.back().prefix.emplace();
      }
      if (!part.alternatives.empty()) rule.key.push_back(part);
    }
    return rule;
  }

  std::vector<Entry> MakeRandomDescriptor() {
    static constexpr absl::string_view kKeys[] = {"a", "b", "c", "d",
                                                  "e", "f", "g"};
    static constexpr absl::string_view kValues[] = {
        "0", "1", "2", "3", "01", "10", "22", "001", "::1", "::2", "1.2.3.4"};
    std::vector<Entry> entries;
    for (uint32_t i = Below(8); i > 0; --i) {
      entries.push_back({kKeys[Below(7)], kValues[Below(11)]});
    }
    return entries;
  }

 private:
  uint32_t Below(uint32_t bound) { return random_() % bound; }

  std::mt19937 random_;
};

class MatchIndexProperty : public testing::TestWithParam<uint32_t> {};

INSTANTIATE_TEST_SUITE_P(Seeds, MatchIndexProperty,
                         testing::Values(kNewSeed, 1, 2, 3));

TEST_P(MatchIndexProperty, FindsWhatLookingAtEveryRuleFinds) {
  const uint32_t seed = SeedOf(GetParam());
  SCOPED_TRACE(testing::Message() << "TOLLGATE_SEED=" << seed);
  RandomWorld world(seed);
  uint64_t checks = 0;
  uint64_t found = 0;
  while (checks < 100'000) {
    std::vector<Rule> rules;
    for (size_t i = 0; i < 100; ++i) rules.push_back(world.MakeRandomRule());
    const Indexed index(rules);
    for (int i = 0; i < 50; ++i) {
      const std::vector<Entry> entries = world.MakeRandomDescriptor();
      std::vector<uint32_t> want;
      for (uint32_t r = 0; r < rules.size(); ++r) {
        if (NaiveMatcher::Applies(rules[r], entries)) want.push_back(r);
      }
      ASSERT_EQ(index.Match(entries), want);
      checks += rules.size();
      found += want.size();
    }
  }
  EXPECT_GT(found, checks / 100);  // the worlds do meet
}

}  // namespace
}  // namespace tollgate
