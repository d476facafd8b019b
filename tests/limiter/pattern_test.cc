#include "server/limiter/pattern.h"

#include <string>

#include "gtest/gtest.h"

namespace tollgate {
namespace {

struct Case {
  absl::string_view pattern;
  absl::string_view value;
  bool matches;
};

TEST(Pattern, MatchesAsTheTableSays) {
  constexpr Case kCases[] = {
      {"/login", "/login", true},
      {"/login", "/login/", false},
      {"/login", "/logi", false},
      {"", "", true},
      {"", "x", false},
      {"*", "", true},
      {"*", "anything", true},
      {"/api/*", "/api/", true},
      {"/api/*", "/api/v1", true},
      {"/api/*", "/api", false},
      {"/api/*", "/apis/v1", false},
      {"*.png", ".png", true},
      {"*.png", "a.png", true},
      {"*.png", "a.png?", false},
      {"/a/*/edit", "/a/1/edit", true},
      {"/a/*/edit", "/a//edit", true},
      {"/a/*/edit", "/a/1/2/edit", true},  // a slash is like any other
      {"/a/*/edit", "/a/edit", false},
      // The parts may not overlap.
      {"ab*ba", "aba", false},
      {"ab*ba", "abba", true},
      {"a*a", "a", false},
      {"a*a", "aa", true},
      {"aa*aa*aa", "aaaaa", false},
      {"aa*aa*aa", "aaaaaa", true},
      {"*aba*aba*", "ababa", false},
      {"*aba*aba*", "abaaba", true},
      // The leftmost place is not the only one that is tried for the last part.
      {"a*bc*c", "abcbc", true},
      {"a*bc*c", "abc", false},
      {"*a*b", "aab", true},
      {"*a*b", "ba", false},
      {"x**y", "xy", true},
      {"x**y", "x*y", true},
      {"***", "", true},
      {"a*", "A", false},
      {"é*", "école", true},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(Pattern::Parse(c.pattern).Matches(c.value), c.matches)
        << '"' << c.pattern << "\" and \"" << c.value << '"';
  }
}

TEST(Pattern, AnExactOneHasNoWildcards) {
  const Pattern pattern = Pattern::Exact("a*");

  EXPECT_TRUE(pattern.is_exact());
  EXPECT_TRUE(pattern.Matches("a*"));
  EXPECT_FALSE(pattern.Matches("ab"));
}

TEST(Pattern, KnowsWhatComesBeforeTheFirstWildcard) {
  EXPECT_EQ(Pattern::Parse("/api/*/x*").prefix(), "/api/");
  EXPECT_EQ(Pattern::Parse("*x").prefix(), "");
  EXPECT_EQ(Pattern::Parse("/login").prefix(), "/login");
  EXPECT_TRUE(Pattern::Parse("/login").is_exact());
  EXPECT_FALSE(Pattern::Parse("/login*").is_exact());
}

TEST(Pattern, PrintsAsItWasParsed) {
  for (const char* text : {"", "*", "/login", "a*b", "**", "*a*"}) {
    EXPECT_EQ(Pattern::Parse(text).ToString(), text);
    EXPECT_EQ(Pattern::Parse(text), Pattern::Parse(text));
  }
}

TEST(Pattern, TakesTimeThatGrowsWithTheTextAlone) {
  // Backtracking would not come back from this.
  std::string pattern;
  for (int i = 0; i < 500; ++i) pattern += "*a";
  pattern += "*b";
  EXPECT_FALSE(Pattern::Parse(pattern).Matches(std::string(4096, 'a')));
}

}  // namespace
}  // namespace tollgate
