#include "server/rules/yaml_tree.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tollgate {
namespace {

using Kind = YamlNode::Kind;

std::string Repeat(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(YamlTree, KeepsTheSourceTextOfScalarsAndThePlaceOfEveryNode) {
  const YamlTree tree = ParseYaml("a: 0123\nb:\n  - on\n  - \"1\\n2\"\n");

  ASSERT_FALSE(tree.error.has_value());
  ASSERT_EQ(tree.root->kind, Kind::kMap);
  ASSERT_EQ(tree.root->items.size(), 4U);
  const YamlNode& number = *tree.root->items[1];
  EXPECT_EQ(number.text, "0123");
  EXPECT_EQ(number.at.line, 1);
  EXPECT_EQ(number.at.column, 4);
  const YamlNode& list = *tree.root->items[3];
  ASSERT_EQ(list.items.size(), 2U);
  EXPECT_EQ(list.items[0]->text, "on");
  EXPECT_EQ(list.items[1]->text, "1\n2");
  EXPECT_EQ(list.items[1]->at.line, 4);
  EXPECT_EQ(list.items[1]->at.column, 5);
}

TEST(YamlTree, PutsANullWhereItsKeyOrItsListStands) {
  const YamlTree tree = ParseYaml("a:\n\n\nb: [~]\n");

  ASSERT_FALSE(tree.error.has_value());
  EXPECT_EQ(tree.root->items[1]->kind, Kind::kNull);
  EXPECT_EQ(tree.root->items[1]->at.line, 1);
  EXPECT_EQ(tree.root->items[3]->items[0]->kind, Kind::kNull);
  EXPECT_EQ(tree.root->items[3]->items[0]->at.column, 4);
}

TEST(YamlTree, IgnoresAByteOrderMarkAndCarriageReturns) {
  const YamlTree tree = ParseYaml(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: 'x'\r\n");

  ASSERT_FALSE(tree.error.has_value());
  EXPECT_EQ(tree.root->items[0]->text, "a");
  EXPECT_EQ(tree.root->items[0]->at.column, 1);
  EXPECT_EQ(tree.root->items[3]->text, "x");
}

TEST(YamlTree, ReadsAnAliasAsItsAnchoredNode) {
  const YamlTree tree = ParseYaml("a: &x [1, 2]\nb: *x\n");

  ASSERT_FALSE(tree.error.has_value());
  EXPECT_EQ(tree.root->items[1], tree.root->items[3]);
  EXPECT_EQ(tree.root->weight, 9U);  // root, two keys, twice a list of two
}

TEST(YamlTree, StopsABillionLaughs) {
  std::string yaml = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'i'; ++c) {
    const std::string before(1, static_cast<char>(c - 1));
    absl::StrAppend(&yaml, std::string(1, c), ": &", std::string(1, c), " [",
                    Repeat("*" + before + ", ", 8), "*", before, "]\n");
  }

  const YamlTree tree = ParseYaml(yaml);

  ASSERT_TRUE(tree.error.has_value());
  EXPECT_THAT(tree.error->message,
              testing::StartsWith("got more than 1000000 YAML nodes"));
  EXPECT_LT(tree.nodes.size(), 200U);
}

TEST(YamlTree, WeighsExactlyAMillionNodesAndNoMore) {
  // A root, two scalars, an anchored list of 999 and 999 aliases of it.
  const std::string anchored =
      "[&a [" + Repeat("x,", 999) + "]" + Repeat(", *a", 998);
  const size_t weight = 1 + 999 * 1000;

  const YamlTree full =
      ParseYaml(anchored + Repeat(", y", kMaxYamlNodes - weight) + "]");
  const YamlTree over =
      ParseYaml(anchored + Repeat(", y", kMaxYamlNodes - weight + 1) + "]");

  ASSERT_FALSE(full.error.has_value()) << full.error->message;
  EXPECT_EQ(full.root->weight, kMaxYamlNodes);
  EXPECT_TRUE(over.error.has_value());
}

TEST(YamlTree, StopsDeepNesting) {
  const YamlTree tree = ParseYaml(Repeat("- ", 100'000));

  ASSERT_TRUE(tree.error.has_value());
  EXPECT_THAT(tree.error->message, testing::HasSubstr("nested too deeply"));
}

TEST(YamlTree, TellsAClosedLastQuoteFromAnOpenOne) {
  for (const char* closed :
       {"a: 'it''s'", "a: \"say \\\"x\\\"\"", "a: ''", "a: &x 'b'",
        "a: !!str \"b\" # it's", "a: it's", "a: |\n  it's \"\n"}) {
    EXPECT_FALSE(ParseYaml(closed).error.has_value()) << closed;
  }
  for (const char* open : {"a: 'it''s", "a: \"say \\\"x\\\"", "a: '",
                           "a: &x 'b", "a: !!str \"b # it's"}) {
    EXPECT_TRUE(ParseYaml(open).error.has_value()) << open;
  }
}

}  // namespace
}  // namespace tollgate
