#ifndef TOLLGATE_SERVER_LIMITER_RULE_TEXT_H_
#define TOLLGATE_SERVER_LIMITER_RULE_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/limiter/limit.h"
#include "server/limiter/rule.h"

namespace tollgate {

// Rules as text for people, about as a rule file has them. Thread-safe.

// "endpoint = /login or /signin", "api_key | ip (v4 /32, v6 /64)".
[[nodiscard]] std::string ToText(const Condition& condition);
[[nodiscard]] std::string ToText(const KeyPart& part);

// One step of a node's path: "path = /api/*", "user = any".
[[nodiscard]] std::string ToText(const NodeStep& step);

// A limit of `rule`: "10/second", "100/5m burst 200", "10/second max_delay 2s",
// "2 at once, slot_ttl 30s".
[[nodiscard]] std::string LimitText(const Rule& rule, const Limit& limit);

// The limits of a node, also those that are not charged: "20/5m", "0/minute",
// "unlimited".
[[nodiscard]] std::vector<std::string> LimitTexts(const NodeRule& node);

// "enforce", "enforce 25%", "shadow", "off".
[[nodiscard]] std::string ModeText(const Rule& rule);

// "allow", "refuse", "backstop".
[[nodiscard]] absl::string_view OutagePolicyName(OutagePolicy policy);

// What else the rule has: its tier, penalty, reserve, overflow_share, skips;
// under a node, what its limits say beside numbers; a sentence each.
[[nodiscard]] std::vector<std::string> NotesText(const Rule& rule);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_RULE_TEXT_H_
