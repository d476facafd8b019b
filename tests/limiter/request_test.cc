#include "server/limiter/request.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

// Validates a request with these descriptors.
absl::Status Validate(const std::vector<std::vector<Entry>>& descriptors,
                      absl::string_view domain = "shop", uint64_t cost = 1) {
  const std::vector<Descriptor> views(descriptors.begin(), descriptors.end());
  Request request;
  request.domain = domain;
  request.descriptors = views;
  request.cost = cost;
  return ValidateRequest(request);
}

TEST(ValidateRequest, TakesAnOrdinaryRequest) {
  EXPECT_THAT(Validate({{{"user", "ana"}, {"endpoint", "/login"}}}), IsOk());
}

TEST(ValidateRequest, WantsADomainOfOneTo256Bytes) {
  const std::vector<std::vector<Entry>> any = {{{"user", "ana"}}};

  EXPECT_THAT(Validate(any, ""), StatusIs(kInvalid,
                                          "domain: empty, want 1 to "
                                          "256 bytes"));
  EXPECT_THAT(Validate(any, "d"), IsOk());
  EXPECT_THAT(Validate(any, std::string(256, 'd')), IsOk());
  EXPECT_THAT(Validate(any, std::string(257, 'd')),
              StatusIs(kInvalid,
                       AllOf(StartsWith("domain: got 257"), HasSubstr("256"))));
}

TEST(ValidateRequest, WantsOneTo64Descriptors) {
  const std::vector<Entry> one = {{"user", "ana"}};

  EXPECT_THAT(Validate({}),
              StatusIs(kInvalid, "descriptors: got 0, want 1 to 64"));
  EXPECT_THAT(Validate({one}), IsOk());
  EXPECT_THAT(Validate(std::vector<std::vector<Entry>>(64, one)), IsOk());
  EXPECT_THAT(Validate(std::vector<std::vector<Entry>>(65, one)),
              StatusIs(kInvalid, "descriptors: got 65, want 1 to 64"));
}

TEST(ValidateRequest, WantsOneTo32EntriesInEachDescriptor) {
  const Entry entry = {"user", "ana"};
  const std::vector<Entry> good = {entry};

  EXPECT_THAT(
      Validate({good, {}}),
      StatusIs(kInvalid, "descriptors[1].entries: got 0, want 1 to 32"));
  EXPECT_THAT(Validate({std::vector<Entry>(32, entry)}), IsOk());
  EXPECT_THAT(
      Validate({good, good, std::vector<Entry>(33, entry)}),
      StatusIs(kInvalid, "descriptors[2].entries: got 33, want 1 to 32"));
}

TEST(ValidateRequest, WantsAKeyOfOneTo256Bytes) {
  const std::string longest(256, 'k');
  const std::string longer(257, 'k');
  const std::vector<Entry> good = {{"user", "ana"}};

  EXPECT_THAT(
      Validate({good, good, {{"", "ana"}}}),
      StatusIs(kInvalid,
               "descriptors[2].entries[0].key: empty, want 1 to 256 bytes"));
  EXPECT_THAT(Validate({{{"k", "ana"}}}), IsOk());
  EXPECT_THAT(Validate({{{longest, "ana"}}}), IsOk());
  EXPECT_THAT(
      Validate({{{"user", "ana"}, {longer, "ana"}}}),
      StatusIs(kInvalid, StartsWith("descriptors[0].entries[1].key: got 257")));
}

TEST(ValidateRequest, WantsAValueOfAtMost4096Bytes) {
  const std::string longest(4096, 'v');
  const std::string longer(4097, 'v');

  EXPECT_THAT(Validate({{{"user", ""}}}), IsOk());
  EXPECT_THAT(Validate({{{"user", longest}}}), IsOk());
  EXPECT_THAT(Validate({{{"user", longer}}}),
              StatusIs(kInvalid,
                       AllOf(StartsWith("descriptors[0].entries[0].value: got "
                                        "4097"),
                             HasSubstr("4096"))));
}

TEST(ValidateRequest, WantsACostOfAtMost4294967295) {
  const std::vector<std::vector<Entry>> any = {{{"user", "ana"}}};

  EXPECT_THAT(Validate(any, "shop", 0), IsOk());
  EXPECT_THAT(Validate(any, "shop", 4294967295), IsOk());
  EXPECT_THAT(
      Validate(any, "shop", 4294967296),
      StatusIs(kInvalid, "cost: got 4294967296, want at most 4294967295"));
}

TEST(ValidateRequest, NamesTheFieldThatIsNotUtf8) {
  const std::string bad = "a\xFF";

  EXPECT_THAT(
      Validate({{{"user", "ana"}}}, bad),
      StatusIs(kInvalid, AllOf(StartsWith("domain: "), HasSubstr("UTF-8"))));
  EXPECT_THAT(
      Validate({{{bad, "ana"}}}),
      StatusIs(kInvalid, AllOf(StartsWith("descriptors[0].entries[0].key: "),
                               HasSubstr("UTF-8"))));
  EXPECT_THAT(
      Validate({{{"user", "ana"}}, {{"user", bad}}}),
      StatusIs(kInvalid, AllOf(StartsWith("descriptors[1].entries[0].value: "),
                               HasSubstr("UTF-8"))));
}

TEST(ValidateRequest, NamesTheFirstBadField) {
  EXPECT_THAT(Validate({{{"", "ana"}}, {}}, "shop", 4294967296),
              StatusIs(kInvalid, StartsWith("descriptors[0].entries[0].key")));
}

struct Utf8Case {
  absl::string_view text;
  bool valid;
  absl::string_view what;
};

TEST(IsValidUtf8, FollowsTable37OfTheUnicodeStandard) {
  using absl::string_view;
  const Utf8Case cases[] = {
      {"", true, "nothing"},
      {string_view("\0", 1), true, "U+0000"},
      {"\x7F", true, "U+007F, the last of one byte"},
      {"\x80", false, "a continuation alone"},
      {"\xBF", false, "the last continuation alone"},
      {"\xC0\x80", false, "U+0000 in two bytes: overlong"},
      {"\xC1\xBF", false, "U+007F in two bytes: overlong"},
      {"\xC2\x80", true, "U+0080, the first of two bytes"},
      {"\xDF\xBF", true, "U+07FF, the last of two bytes"},
      {"\xC2", false, "two bytes, cut after one"},
      {"\xC2\x7F", false, "a second byte below 80"},
      {"\xC2\xC0", false, "a second byte above BF"},
      {"\xE0\x9F\xBF", false, "U+07FF in three bytes: overlong"},
      {"\xE0\xA0\x80", true, "U+0800, the first of three bytes"},
      {"\xED\x9F\xBF", true, "U+D7FF, the last before the surrogates"},
      {"\xED\xA0\x80", false, "U+D800, the first surrogate"},
      {"\xED\xBF\xBF", false, "U+DFFF, the last surrogate"},
      {"\xEE\x80\x80", true, "U+E000, the first after the surrogates"},
      {"\xEF\xBF\xBF", true, "U+FFFF, the last of three bytes"},
      {"\xE2\x82", false, "three bytes, cut after two"},
      {"\xE2", false, "three bytes, cut after one"},
      {"\xE2\x82\x41", false, "a third byte that is ASCII"},
      {"\xE2\x41\x82", false, "a second byte that is ASCII"},
      {"\xF0\x8F\xBF\xBF", false, "U+FFFF in four bytes: overlong"},
      {"\xF0\x90\x80\x80", true, "U+10000, the first of four bytes"},
      {"\xF4\x8F\xBF\xBF", true, "U+10FFFF, the last of all"},
      {"\xF4\x90\x80\x80", false, "U+110000, above the last"},
      {"\xF5\x80\x80\x80", false, "a lead byte that nothing uses"},
      {"\xF8\x88\x80\x80\x80", false, "five bytes"},
      {"\xFE", false, "FE"},
      {"\xFF", false, "FF"},
      {"\xF0\x9F\x98", false, "four bytes, cut after three"},
      {"\xF0\x9F", false, "four bytes, cut after two"},
      {"\xF0", false, "four bytes, cut after one"},
      {"\xF0\x9F\x98\x41", false, "a fourth byte that is ASCII"},
      {"z\xC3\xBCrich \xE2\x82\xAC \xF0\x9F\x98\x80", true, "a mixture"},
      {"good \xC3\xBC then bad \xC3", false, "cut at the end of good text"},
      {string_view("\xC3\xBC\0\x80", 4), false, "bad after a zero byte"},
  };
  for (const Utf8Case& c : cases) {
    EXPECT_EQ(IsValidUtf8(c.text), c.valid) << c.what;
  }
}

TEST(IsValidUtf8, DoesNotReadPastTheEnd) {
  // The byte after the view would complete the sequence.
  EXPECT_FALSE(IsValidUtf8(absl::string_view("\xC3\xBC", 1)));
  EXPECT_FALSE(IsValidUtf8(absl::string_view("\xF0\x9F\x98\x80", 3)));
}

}  // namespace
}  // namespace tollgate
