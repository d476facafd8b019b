// DescriptorIndex against the format's own matching, written down as plainly as
// can be: random trees, random requests.
#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limiter/descriptor_index.h"
#include "tests/limiter/nodes.h"

namespace tollgate {
namespace {

struct PlainNode {
  NodeStep step;
  uint32_t rule = DescriptorIndex::kNone;
  std::vector<std::unique_ptr<PlainNode>> children;  // in order
};

// Zero or more characters for each `*`, tried one by one.
bool Like(const char* pattern, const char* text) {
  if (*pattern == '\0') return *text == '\0';
  if (*pattern == '*') {
    return Like(pattern + 1, text) ||
           (*text != '\0' && Like(pattern, text + 1));
  }
  return *text == *pattern && Like(pattern + 1, text + 1);
}

const PlainNode* NextOf(const PlainNode& node, const Entry& entry) {
  const std::string key(entry.key);
  const std::string value(entry.value);
  for (const auto& child : node.children) {
    if (!child->step.is_wildcard() && !child->step.value.empty() &&
        child->step.key == key && child->step.value == value) {
      return child.get();
    }
  }
  for (const auto& child : node.children) {
    if (child->step.is_wildcard() &&
        Like(child->step.key.c_str(), key.c_str()) &&
        (child->step.value.empty() ||
         Like(child->step.value.c_str(), value.c_str()))) {
      return child.get();
    }
  }
  for (const auto& child : node.children) {
    if (!child->step.is_wildcard() && child->step.value.empty() &&
        child->step.key == key) {
      return child.get();
    }
  }
  return nullptr;
}

// The rule, and the open values that name its bucket.
std::pair<uint32_t, std::vector<std::string>> PlainFind(const PlainNode& root,
                                                        Descriptor descriptor) {
  const PlainNode* node = &root;
  std::vector<std::string> open;
  for (const Entry& entry : descriptor) {
    node = NextOf(*node, entry);
    if (node == nullptr) return {DescriptorIndex::kNone, {}};
    if (node->step.share) continue;
    if (node->step.is_wildcard() || node->step.value.empty()) {
      open.push_back(std::string(entry.key) + "=" + std::string(entry.value));
    }
  }
  return {node->rule, open};
}

class RandomTree {
 public:
  explicit RandomTree(uint32_t seed) : random_(seed) {}

  uint32_t Below(uint32_t end) {
    return std::uniform_int_distribution<uint32_t>(0, end - 1)(random_);
  }
  std::string Pick(const std::vector<std::string>& of) {
    return of[Below(static_cast<uint32_t>(of.size()))];
  }

  void Grow(PlainNode& node, std::vector<NodeStep>& path, int depth,
            std::vector<Rule>& rules) {
    const uint32_t count = 1 + Below(6);
    for (uint32_t i = 0; i < count; ++i) {
      NodeStep step{Pick({"a", "b", "ab", "a*"}),
                    Pick({"", "x", "xy", "yx", "x*", "*x", "x*y", "*", "*y*x"}),
                    false};
      step.share = step.is_wildcard() && Below(4) == 0;
      if (std::any_of(node.children.begin(), node.children.end(),
                      [&](const auto& child) {
                        return child->step.key == step.key &&
                               child->step.value == step.value;
                      })) {
        continue;
      }
      PlainNode& child =
          *node.children.emplace_back(std::make_unique<PlainNode>());
      child.step = step;
      path.push_back(step);
      const bool is_leaf = depth == 0 || Below(2) == 0;
      if (is_leaf || Below(2) == 0) {
        child.rule = static_cast<uint32_t>(rules.size());
        rules.push_back(NodeAt(path, {Written(1)}));
        rules.back().name = std::to_string(rules.size());
      }
      if (!is_leaf) Grow(child, path, depth - 1, rules);
      path.pop_back();
    }
  }

 private:
  std::mt19937 random_;
};

TEST(DescriptorProperty, FindsWhatThePlainWalkFinds) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    RandomTree random(seed);
    PlainNode root;
    std::vector<NodeStep> path;
    std::vector<Rule> rules;
    random.Grow(root, path, 2, rules);
    std::vector<const Rule*> pointers;
    for (const Rule& rule : rules) pointers.push_back(&rule);
    const auto index = DescriptorIndex::Create(pointers);
    ASSERT_TRUE(index.ok()) << index.status();
    // Two requests meet in a bucket exactly if rule and open values agree.
    std::map<std::pair<uint32_t, std::vector<std::string>>, std::string> keys;
    std::map<std::pair<uint32_t, std::string>, std::vector<std::string>> opens;
    for (int i = 0; i < 300; ++i) {
      std::vector<std::string> text;
      for (uint32_t e = 2 * (1 + random.Below(3)); e > 0; e -= 2) {
        text.push_back(random.Pick({"a", "b", "ab", "ac", "c"}));
        text.push_back(
            random.Pick({"", "x", "y", "xy", "yx", "xyx", "yyx", "xxy", "z"}));
      }
      std::vector<Entry> entries;
      for (size_t e = 0; e < text.size(); e += 2) {
        entries.push_back({text[e], text[e + 1]});
      }
      DescriptorIndex::Scratch scratch;
      const uint32_t found = index->Find(entries, scratch);
      const auto [rule, open] = PlainFind(root, entries);
      ASSERT_EQ(found, rule) << "seed " << seed << ", request " << i << ": "
                             << absl::StrJoin(text, " ");
      if (rule == DescriptorIndex::kNone) continue;
      // The plain walk names keys too, which differ only under wildcards.
      const std::string key(scratch.data(), scratch.size());
      const auto [by_open, is_new] = keys.try_emplace({rule, open}, key);
      EXPECT_EQ(by_open->second, key) << "seed " << seed;
      const auto [by_key, fresh] = opens.try_emplace({rule, key}, open);
      EXPECT_EQ(by_key->second, open) << "seed " << seed;
      EXPECT_EQ(is_new, fresh);
    }
  }
}

TEST(DescriptorProperty, ManySiblingsAndWildcardsAreEachFound) {
  std::vector<Rule> rules;
  for (int i = 0; i < 10'000; ++i) {
    rules.push_back(
        NodeAt({{"path", "/exact/" + std::to_string(i)}}, {Written(1)}));
    rules.push_back(
        NodeAt({{"path", "/wild/" + std::to_string(i) + "/*"}}, {Written(1)}));
  }
  std::vector<const Rule*> pointers;
  for (const Rule& rule : rules) pointers.push_back(&rule);
  const auto index = DescriptorIndex::Create(pointers);
  ASSERT_TRUE(index.ok());
  for (uint32_t i = 0; i < 10'000; ++i) {
    const std::string exact = "/exact/" + std::to_string(i);
    const std::string wild = "/wild/" + std::to_string(i) + "/x";
    DescriptorIndex::Scratch key;
    const std::vector<Entry> first = {{"path", exact}};
    const std::vector<Entry> second = {{"path", wild}};
    ASSERT_EQ(index->Find(first, key), 2 * i);
    ASSERT_EQ(index->Find(second, key), 2 * i + 1);
  }
}

}  // namespace
}  // namespace tollgate
