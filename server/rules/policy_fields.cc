#include "server/rules/policy_fields.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/limiter/limit.h"
#include "server/limiter/request.h"
#include "server/rules/duration_text.h"
#include "server/rules/limit_text.h"
#include "server/rules/quote.h"

namespace tollgate {
namespace {

constexpr absl::string_view kWantMode =
    "enforce, shadow, off or {enforce: 25%}";
constexpr absl::string_view kWantOutage = "allow, refuse or backstop";
constexpr absl::string_view kWantBool = "true or false";
constexpr absl::string_view kWantPenalty =
    "a penalty, such as {after: 100/minute, block: 10m}";
constexpr absl::string_view kWantAfter = "refusals/period, such as 100/minute";
constexpr absl::string_view kWantReserve =
    "a reserve, such as {entry: priority, shares: {critical: 0%, batch: 20%}}";
constexpr absl::string_view kWantReserveEntry =
    "the entry that names the share, such as priority";
constexpr absl::string_view kWantShares =
    "a map of values to percentages, such as {critical: 0%, batch: 20%}";
constexpr absl::string_view kWantReserveDefault = "the name of a share";
constexpr absl::string_view kWantSkips =
    "a list of rules' names, such as [per-user]";
constexpr absl::string_view kWantSkip = "the name of a rule";
constexpr uint32_t kMaxShare = 99;

void ReadEnforce(const FieldValue& value, RuleDraft& draft) {
  draft.rule.enforce_percent = value.Percent(100).value_or(100);
}

constexpr std::array<FieldReader<RuleDraft>, 1> kModeFields = {
    {{"enforce", ReadEnforce}}};

struct PenaltyDraft {
  std::optional<Limit> after;
  std::optional<absl::Duration> block;
};

void ReadAfter(const FieldValue& value, PenaltyDraft& penalty) {
  const auto text = value.Text(kWantAfter);
  if (!text.has_value()) return;
  const absl::StatusOr<Limit> limit = ParseLimit(*text);
  if (!limit.ok()) return value.Fail(std::string(limit.status().message()));
  penalty.after = *limit;
}

void ReadBlock(const FieldValue& value, PenaltyDraft& penalty) {
  const auto text = value.Text(kWantDuration);
  if (!text.has_value()) return;
  const absl::StatusOr<absl::Duration> time = ParseDuration(*text);
  if (!time.ok()) return value.Fail(std::string(time.status().message()));
  penalty.block = *time;
}

constexpr std::array<FieldReader<PenaltyDraft>, 2> kPenaltyFields = {
    {{"after", ReadAfter}, {"block", ReadBlock}}};

void ReadReserveEntry(const FieldValue& value, Reserve& reserve) {
  reserve.entry = ReadEntryKey(value, kWantReserveEntry).value_or("");
}

void ReadShares(const FieldValue& value, Reserve& reserve) {
  const std::vector<NamedValue> shares = value.Entries(kWantShares);
  if (value.is_map() && (shares.empty() || shares.size() > kMaxTiers)) {
    value.Fail(
        absl::StrCat("got ", shares.size(), " shares, want 1 to ", kMaxTiers));
  }
  for (const NamedValue& named : shares) {
    if (named.name.empty() || named.name.size() > kMaxValueBytes) {
      named.name_value.Fail(absl::StrCat("got ", named.name.size(),
                                         " bytes, want 1 to ", kMaxValueBytes));
    }
    reserve.shares.emplace_back(std::string(named.name),
                                named.value.Percent(kMaxShare).value_or(0));
  }
}

void ReadReserveDefault(const FieldValue& value, Reserve& reserve) {
  reserve.fallback = std::string(value.Text(kWantReserveDefault).value_or(""));
}

constexpr std::array<FieldReader<Reserve>, 3> kReserveFields = {{
    {"entry", ReadReserveEntry},
    {"shares", ReadShares},
    {"default", ReadReserveDefault},
}};

}  // namespace

void ReadCost(const FieldValue& value, RuleDraft& draft) {
  draft.rule.cost = value.Count(kMaxCost).value_or(1);
}

void ReadMode(const FieldValue& value, RuleDraft& draft) {
  if (value.is_map()) {
    if (ReadFields<RuleDraft>(value, kWantMode, kModeFields, draft).empty()) {
      value.Fail(absl::StrCat("got an empty map, want ", kWantMode));
    }
    return;
  }
  const auto text = value.Text(kWantMode);
  if (!text.has_value()) return;
  if (*text == "enforce") {
    draft.rule.mode = Mode::kEnforce;
  } else if (*text == "shadow") {
    draft.rule.mode = Mode::kShadow;
  } else if (*text == "off") {
    draft.rule.mode = Mode::kOff;
  } else {
    value.FailWant(kWantMode);
  }
}

void ReadPenalty(const FieldValue& value, RuleDraft& draft) {
  PenaltyDraft penalty;
  const std::vector<NamedValue> fields =
      ReadFields<PenaltyDraft>(value, kWantPenalty, kPenaltyFields, penalty);
  if (!value.is_map()) return;
  if (FindField(fields, "after") == nullptr) {
    value.FailMissing("after", kWantAfter);
  }
  if (FindField(fields, "block") == nullptr) {
    value.FailMissing("block", kWantDuration);
  }
  if (!penalty.after.has_value() || !penalty.block.has_value()) return;
  const absl::StatusOr<Limit> held = penalty.after->WithHold(*penalty.block);
  if (value.Check(held.status(), "")) draft.rule.penalty = PenaltyRule{*held};
}

void ReadReserve(const FieldValue& value, RuleDraft& draft) {
  Reserve& reserve = draft.rule.reserve.emplace();
  const std::vector<NamedValue> fields =
      ReadFields<Reserve>(value, kWantReserve, kReserveFields, reserve);
  if (!value.is_map()) return;
  if (FindField(fields, "entry") == nullptr) {
    value.FailMissing("entry", kWantReserveEntry);
  }
  const FieldValue* shares = FindField(fields, "shares");
  if (shares == nullptr) return value.FailMissing("shares", kWantShares);
  const FieldValue* fallback = FindField(fields, "default");
  if (fallback != nullptr && shares->is_map()) {
    CheckDefault(*fallback, kWantReserveDefault, NamesOf(reserve.shares));
  }
}

void ReadOverflowShare(const FieldValue& value, RuleDraft& draft) {
  draft.rule.overflow_percent =
      value.Percent(kMaxOverflowPercent, /*min=*/1).value_or(100);
}

void ReadOnOutage(const FieldValue& value, RuleDraft& draft) {
  const auto text = value.Text(kWantOutage);
  if (!text.has_value()) return;
  if (*text == "allow") {
    draft.rule.on_outage = OutagePolicy::kAllow;
  } else if (*text == "refuse") {
    draft.rule.on_outage = OutagePolicy::kRefuse;
  } else if (*text == "backstop") {
    draft.rule.on_outage = OutagePolicy::kBackstop;
  } else {
    value.FailWant(kWantOutage);
  }
}

void ReadUnlimited(const FieldValue& value, RuleDraft& draft) {
  draft.unlimited_known = false;
  const auto text = value.Text(kWantBool);
  if (!text.has_value()) return;
  if (*text != "true" && *text != "false") return value.FailWant(kWantBool);
  draft.unlimited_known = true;
  draft.rule.unlimited = *text == "true";
}

void ReadSkips(const FieldValue& value, RuleDraft& draft) {
  const std::vector<FieldValue> items = value.Items(kWantSkips);
  if (value.is_list() && items.empty()) {
    value.Fail("got an empty list, want names, or no skips to skip all rules");
  }
  absl::flat_hash_set<absl::string_view> seen;
  for (const FieldValue& item : items) {
    const auto text = item.Text(kWantSkip);
    if (!text.has_value()) continue;
    if (!seen.insert(*text).second) {
      item.Fail(absl::StrCat("got ", item.Got(), " twice, want it once"));
    }
    draft.rule.skips.emplace_back(*text);
  }
}

}  // namespace tollgate
