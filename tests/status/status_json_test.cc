#include "server/status/status_json.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace tollgate {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using Json = nlohmann::json;

constexpr char kScript[] = "</script><img src=x onerror=\"alert(1)\">";

// Null if it is no JSON.
Json Parsed(const ServiceStatus& status) {
  Json json = Json::parse(StatusJson(status), nullptr,
                          /*allow_exceptions=*/false);
  EXPECT_FALSE(json.is_discarded());
  return json.is_discarded() ? Json() : json;
}

ServiceStatus WithKey(const std::string& key) {
  ServiceStatus status;
  status.keys = {{.domain = "shop", .rule = "per-user", .key = key}};
  return status;
}

std::string KeyOf(const ServiceStatus& status) {
  return Parsed(status)["refusedKeys"]["keys"][0]["key"];
}

TEST(StatusJson, SaysHowTheServiceDoes) {
  ServiceStatus status;
  status.at_ns = 1'700'000'001'234'567'890;
  status.started_ns = 1'700'000'000'000'000'000;
  status.version = "1.2.3";
  status.readiness = {true, "ready: 2 rules"};
  status.load = {.ok = true, .at_ns = 1'000'000, .hash = "0123", .rules = 2};
  status.memory = {.buckets = 3, .max_buckets = 10, .resident_bytes = 4096};
  status.service = {.in_flight = 4, .expired = 5, .overload = 6, .watchers = 7};
  status.connections = {.open = 8, .refused = 9, .killed = 10};
  status.max_connections = 11;
  status.store = {.ok = true, .text = "memory", .errors = 12, .outage = 13};
  const Json json = Parsed(status);
  EXPECT_EQ(json["atMs"], 1'700'000'001'234);
  EXPECT_EQ(json["startedMs"], 1'700'000'000'000);
  EXPECT_EQ(json["version"], "1.2.3");
  EXPECT_EQ(json["ready"], true);
  EXPECT_EQ(json["reason"], "ready: 2 rules");
  EXPECT_EQ(json["load"]["hash"], "0123");
  EXPECT_EQ(json["load"]["atMs"], 1);
  EXPECT_EQ(json["memory"]["maxBuckets"], 10);
  EXPECT_EQ(json["service"]["overload"], 6);
  EXPECT_EQ(json["connections"],
            Json({{"open", 8}, {"max", 11}, {"refused", 9}, {"killed", 10}}));
  EXPECT_EQ(
      json["store"],
      Json({{"ok", true}, {"text", "memory"}, {"errors", 12}, {"outage", 13}}));
  EXPECT_EQ(json["stateFile"]["on"], false);
}

TEST(StatusJson, SaysWhatEveryRuleCounted) {
  ServiceStatus status;
  status.rules = {
      {"shop", "per-user", "10/second", "enforce", {1, 2, 3, 4, 5}}};
  EXPECT_EQ(Parsed(status)["rules"][0], Json({{"domain", "shop"},
                                              {"rule", "per-user"},
                                              {"limits", "10/second"},
                                              {"mode", "enforce"},
                                              {"allowed", 1},
                                              {"refused", 2},
                                              {"shadowRefused", 3},
                                              {"impossible", 4},
                                              {"overflow", 5}}));
}

TEST(StatusJson, KeepsWhatCallersWroteAsText) {
  EXPECT_EQ(KeyOf(WithKey(kScript)), kScript);
  EXPECT_EQ(KeyOf(WithKey("\"}],\"ready\":true,\"x\":[{\"")),
            "\"}],\"ready\":true,\"x\":[{\"");
  EXPECT_EQ(KeyOf(WithKey(std::string("a\0b\n\x1b[31m", 9))),
            std::string("a\0b\n\x1b[31m", 9));
}

TEST(StatusJson, KeepsQuotesInNamesOfRules) {
  ServiceStatus status;
  status.rules = {{"sh\"op", "per\\user'\"<b>", "1/second", "enforce", {}}};
  const Json rule = Parsed(status)["rules"][0];
  EXPECT_EQ(rule["domain"], "sh\"op");
  EXPECT_EQ(rule["rule"], "per\\user'\"<b>");
}

// A query of /check may have any bytes.
TEST(StatusJson, ShowsBytesThatAreNoUtf8AsReplacements) {
  EXPECT_EQ(KeyOf(WithKey("a\xff\xc0z")), "a\uFFFD\uFFFDz");
}

TEST(StatusJson, CutsLongTextsBetweenCharacters) {
  EXPECT_EQ(KeyOf(WithKey(std::string(300, 'k'))), std::string(300, 'k'));
  EXPECT_EQ(KeyOf(WithKey(std::string(301, 'k'))), std::string(300, 'k') + "…");
  EXPECT_EQ(KeyOf(WithKey(std::string(299, 'k') + "ü")),
            std::string(299, 'k') + "…");
  // No character begins there.
  EXPECT_EQ(KeyOf(WithKey(std::string(1000, '\x80'))), "…");
  ServiceStatus status;
  status.rules = {{"d", "r", std::string(100'000, '1'), "enforce", {}}};
  status.load.error = std::string(100'000, 'e');
  status.readiness.reason = std::string(100'000, 'r');
  EXPECT_LT(StatusJson(status).size(), 10'000);
}

TEST(StatusJson, ShowsSoManyRulesAndKeysAndSaysThatThereAreMore) {
  ServiceStatus status;
  status.rules.resize(kMaxShownRules);
  status.keys.resize(kMaxShownKeys);
  Json json = Parsed(status);
  EXPECT_THAT(json["rules"], SizeIs(kMaxShownRules));
  EXPECT_EQ(json["rulesLeftOut"], 0);
  EXPECT_THAT(json["refusedKeys"]["keys"], SizeIs(kMaxShownKeys));
  EXPECT_EQ(json["refusedKeys"]["leftOut"], false);
  status.rules.resize(kMaxShownRules + 3);
  status.keys.resize(kMaxShownKeys + 1);
  status.rules_left_out = 10;
  json = Parsed(status);
  EXPECT_THAT(json["rules"], SizeIs(kMaxShownRules));
  EXPECT_EQ(json["rulesLeftOut"], 13);
  EXPECT_THAT(json["refusedKeys"]["keys"], SizeIs(kMaxShownKeys));
  EXPECT_EQ(json["refusedKeys"]["leftOut"], true);
}

TEST(StatusJson, StaysBoundedWhereEveryTextIsLong) {
  ServiceStatus status;
  const std::string name(128, 'n');
  status.rules.assign(
      1000, {name, name, std::string(30'000, 'l'), "enforce 25%", {}});
  status.keys.assign(
      1000, {.domain = name, .rule = name, .key = std::string(5000, 'k')});
  EXPECT_LT(StatusJson(status).size(), 500'000);
}

TEST(StatusJson, WritesTheLargestCounts) {
  ServiceStatus status;
  status.memory.overflow = std::numeric_limits<uint64_t>::max();
  EXPECT_THAT(StatusJson(status),
              HasSubstr("\"overflow\":18446744073709551615"));
}

TEST(StatusJson, SaysWhyItIsNotReadyAndWhyAReloadFailed) {
  ServiceStatus status;
  status.readiness = {false, "draining"};
  status.load.error = "a.yaml:3: got \"0/second\"\nb.yaml:1: empty";
  status.store = {.ok = false, .text = "redis: connection refused"};
  const Json json = Parsed(status);
  EXPECT_EQ(json["ready"], false);
  EXPECT_EQ(json["reason"], "draining");
  EXPECT_EQ(json["load"]["ok"], false);
  EXPECT_EQ(json["load"]["error"], status.load.error);
  EXPECT_EQ(json["store"]["ok"], false);
}

}  // namespace
}  // namespace tollgate
