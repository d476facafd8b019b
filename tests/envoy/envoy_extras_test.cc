// The headers and the metadata that an answer to a gateway may hold.

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "tests/envoy/gateway.h"
#include "tests/limiter/nodes.h"

namespace tollgate {
namespace {

Rule PerMinute(const char* key, uint64_t requests) {
  return NodeAt({{key, "", false}}, {Written(requests)});
}
Rule WithMetadata(Rule rule, const char* json) {
  rule.node->metadata = json;
  return rule;
}

// The headers of the last answer, "Name: value" each, by '|'.
std::string HeadersOf(Gateway& gateway, const std::string& descriptors) {
  RlsResponse response;
  EXPECT_TRUE(gateway.Ask("domain: 'shop' " + descriptors, response).ok());
  return absl::StrJoin(response.response_headers_to_add(), "|",
                       [](std::string* out, const auto& header) {
                         absl::StrAppend(out, header.key(), ": ",
                                         header.value());
                       });
}

const std::string kA = Descr({{"a", "1"}});
const std::string kB = Descr({{"b", "1"}});

TEST(EnvoyHeaders, AreNoneUnlessAProfileAsksForThem) {
  Gateway gateway({PerMinute("a", 1)});
  EXPECT_EQ(HeadersOf(gateway, kA), "");
}

TEST(EnvoyHeaders, TellOfTheLeastRemainingAndThenOfTheLastThatRefuses) {
  Gateway gateway({PerMinute("a", 2), PerMinute("b", 3)},
                  {.headers = HeaderProfile::kLegacy});
  EXPECT_EQ(HeadersOf(gateway, kB + kA),
            "X-RateLimit-Limit: 2|X-RateLimit-Remaining: 1|"
            "X-RateLimit-Reset: 30");
  EXPECT_EQ(HeadersOf(gateway, kA),
            "X-RateLimit-Limit: 2|X-RateLimit-Remaining: 0|"
            "X-RateLimit-Reset: 60");
  EXPECT_EQ(HeadersOf(gateway, kA + kB),
            "X-RateLimit-Limit: 2|X-RateLimit-Remaining: 0|"
            "X-RateLimit-Reset: 60|Retry-After: 30");
  EXPECT_EQ(HeadersOf(gateway, kA + kB + "hits_addend: 3"),
            "X-RateLimit-Limit: 3|X-RateLimit-Remaining: 0|"
            "X-RateLimit-Reset: 20")
      << "the last that refuses, and a cost that waiting never helps";
}

TEST(EnvoyHeaders, AreNotOfWhatHasNoLimit) {
  NodeLimit unlimited;
  unlimited.unlimited = true;
  Gateway gateway({NodeAt({{"a", "", false}}, {unlimited})},
                  {.headers = HeaderProfile::kLegacy});
  EXPECT_EQ(HeadersOf(gateway, kA + kB), "");
}

TEST(EnvoyHeaders, NameALimitAsTheFileDoesOrByItsPath) {
  Rule named = PerMinute("b", 3);
  named.node->limits[0].name = "per b";
  Gateway gateway({PerMinute("a", 2), named},
                  {.headers = HeaderProfile::kDraft10});
  EXPECT_EQ(HeadersOf(gateway, kA + kB),
            R"(RateLimit-Policy: "a";q=2;w=60, "per b";q=3;w=60|)"
            R"(RateLimit: "a";r=1;t=30, "per b";r=2;t=20)");
}

TEST(EnvoyHeaders, SayThatAllIsRefused) {
  Gateway gateway({PerMinute("a", 0)}, {.headers = HeaderProfile::kDraft10});
  EXPECT_EQ(HeadersOf(gateway, kA),
            R"(RateLimit-Policy: "a";q=0;w=60|RateLimit: "a";r=0)");
}

TEST(EnvoyHeaders, DoNotSayThatAShadowLimitRefuses) {
  Rule shadow = PerMinute("a", 1);
  shadow.mode = Mode::kShadow;
  Gateway gateway({shadow}, {.headers = HeaderProfile::kDraft10});
  EXPECT_EQ(HeadersOf(gateway, kA + "hits_addend: 1"),
            HeadersOf(gateway, kA + "hits_addend: 1"));
}

google::protobuf::Struct Json(const std::string& text) {
  google::protobuf::Struct parsed;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(text, &parsed).ok());
  return parsed;
}

// Whether the answer's metadata is that JSON.
void ExpectMetadata(Gateway& gateway, const std::string& request,
                    const std::string& json) {
  RlsResponse response;
  EXPECT_TRUE(gateway.Ask("domain: 'shop' " + request, response).ok());
  std::string differences;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&differences);
  EXPECT_TRUE(differencer.Compare(Json(json), response.dynamic_metadata()))
      << differences;
}

TEST(EnvoyMetadata, IsNotThereUnlessAskedFor) {
  Gateway gateway({WithMetadata(PerMinute("a", 1), R"({"x":1})")});
  RlsResponse response;
  ASSERT_TRUE(gateway.Ask("domain: 'shop' " + kA, response).ok());
  EXPECT_FALSE(response.has_dynamic_metadata());
}

TEST(EnvoyMetadata, TellsTheRequest) {
  Gateway gateway({PerMinute("a", 9)}, {.dynamic_metadata = true});
  ExpectMetadata(gateway, Descr({{"a", "1"}, {"b", "2"}}),
                 R"({"domain":"shop","descriptors":[)"
                 R"({"entries":["a=1","b=2"]}]})");
  ExpectMetadata(
      gateway,
      Descr({{"a", "1"}},
            "hits_addend { value: 2 } "
            "limit { requests_per_unit: 3 unit: MINUTE }") +
          "hits_addend: 4",
      R"({"domain":"shop","descriptors":[{"entries":["a=1"],)"
      R"("limit":"requests_per_unit: 3 unit: MINUTE","hitsAddend":2}],)"
      R"("hitsAddend":4})");
}

TEST(EnvoyMetadata, MergesTheMapsOfWhatPassedTheFirstWins) {
  Gateway gateway(
      {WithMetadata(PerMinute("a", 9), R"({"tier":"gold","to":{"x":1}})"),
       WithMetadata(PerMinute("b", 9),
                    R"({"tier":"tin","to":{"x":2,"y":3},"z":[4]})"),
       WithMetadata(PerMinute("over", 0), R"({"never":true})")},
      {.dynamic_metadata = true});
  ExpectMetadata(gateway, kA + kB + Descr({{"over", "1"}}),
                 R"({"domain":"shop","descriptors":[{"entries":["a=1"]},)"
                 R"({"entries":["b=1"]},{"entries":["over=1"]}],)"
                 R"("metadata":{"tier":"gold","to":{"x":1,"y":3},"z":[4]}})");
}

}  // namespace
}  // namespace tollgate
