#include "server/rules/limit_fields.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "server/limiter/algorithm.h"
#include "server/limiter/limit.h"
#include "server/limiter/request.h"
#include "server/rules/duration_text.h"
#include "server/rules/limit_text.h"
#include "server/rules/quote.h"

namespace tollgate {
namespace {

constexpr uint64_t kMaxCount = 0xFFFFFFFF;

constexpr absl::string_view kWantLimit =
    "tokens/period, such as 10/second, or a list of those";
constexpr absl::string_view kWantLimitItem = "tokens/period, such as 10/second";
constexpr absl::string_view kWantSlots =
    "a number of slots with concurrency, such as 2";
constexpr absl::string_view kWantTier =
    "a tier, such as {entry: plan, limits: {free: 1/second, paid: 9/second}}";
constexpr absl::string_view kWantTierEntry =
    "the entry that names the tier, such as plan";
constexpr absl::string_view kWantTierLimits =
    "a map of tiers to limits, such as {free: 1/second, paid: 9/second}";
constexpr absl::string_view kWantTierDefault = "the name of a tier in limits";

// What the algorithms ask of a limit, found by asking them.
absl::StatusOr<Limit> WithHold(const absl::StatusOr<Limit>& limit,
                               absl::Duration hold) {
  return limit.ok() ? limit->WithHold(hold) : limit;
}

bool HasDelay(const Algorithm& algorithm) {
  const auto held = WithHold(Limit(), absl::Seconds(1));
  return held.ok() && algorithm.Validate(*held).ok();
}

bool HasBurst(const Algorithm& algorithm) {
  auto limit = Limit::Create(1, absl::Seconds(1), 2);
  if (HasDelay(algorithm)) limit = WithHold(limit, absl::Seconds(1));
  return limit.ok() && algorithm.Validate(*limit).ok();
}

// How the limits of one rule are written.
struct LimitForm {
  const Algorithm* algorithm = nullptr;  // null if its name was not read
  bool has_slots = false;  // a limit is a number of slots, held for `time`
  bool has_delay = false;  // a limit delays, up to `time`
  // Where it was not read, one with which a limit has no mistake of its own.
  absl::Duration time = absl::Seconds(1);
};

absl::Duration ReadTime(const FieldValue* value) {
  constexpr absl::Duration kSound = absl::Seconds(1);
  if (value == nullptr) return kSound;
  const auto text = value->Text(kWantDuration);
  if (!text.has_value()) return kSound;
  const absl::StatusOr<absl::Duration> time = ParseDuration(*text);
  if (time.ok()) return *time;
  value->Fail(std::string(time.status().message()));
  return kSound;
}

// A field that one kind of algorithm must have and no other may.
absl::Duration ReadTimeOf(const FieldValue& map, const RuleDraft& draft,
                          bool is_wanted, absl::string_view name,
                          absl::string_view owner) {
  const FieldValue* value = draft.Find(name);
  if (is_wanted && value == nullptr) {
    map.FailMissing(name, absl::StrCat(kWantDuration, ", with ", owner));
  } else if (!is_wanted && value != nullptr && draft.rule.algorithm) {
    value->Fail(absl::StrCat("got ", value->Got(), " with ",
                             std::string(draft.rule.algorithm->name()),
                             ", want it with ", owner, " alone"));
    return absl::Seconds(1);
  }
  return ReadTime(value);
}

LimitForm ReadForm(const FieldValue& map, const RuleDraft& draft) {
  LimitForm form;
  form.algorithm = draft.rule.algorithm;
  if (form.algorithm != nullptr) {
    form.has_slots = form.algorithm->TakesByTicket();
    form.has_delay = HasDelay(*form.algorithm);
  }
  const absl::Duration max_delay =
      ReadTimeOf(map, draft, form.has_delay, "max_delay", "leaky_bucket");
  const absl::Duration slot_ttl =
      ReadTimeOf(map, draft, form.has_slots, "slot_ttl", "concurrency");
  if (form.has_delay) form.time = max_delay;
  if (form.has_slots) form.time = slot_ttl;
  return form;
}

absl::StatusOr<Limit> ParseSlots(absl::string_view text, absl::Duration ttl) {
  uint64_t slots = 0;
  if (!absl::c_all_of(text, absl::ascii_isdigit) ||
      !absl::SimpleAtoi(text, &slots) || slots < 1 || slots > kMaxCount) {
    return absl::InvalidArgumentError(
        absl::StrCat("got ", Quote(text), ", want ", kWantSlots));
  }
  return Limit::Create(slots, ttl);
}

void ReadOneLimit(const FieldValue& value, absl::string_view want,
                  const LimitForm& form, std::vector<Limit>& limits) {
  const auto text = value.Text(form.has_slots ? kWantSlots : want);
  if (!text.has_value()) return;
  absl::StatusOr<Limit> limit =
      form.has_slots ? ParseSlots(*text, form.time) : ParseLimit(*text);
  if (form.has_delay) limit = WithHold(limit, form.time);
  absl::Status status = limit.status();
  if (status.ok() && form.algorithm != nullptr) {
    status = form.algorithm->Validate(*limit);
  }
  if (!status.ok()) return value.Fail(std::string(status.message()));
  limits.push_back(*limit);
}

// One limit, or a list of them.
std::vector<Limit> ReadLimitOrList(const FieldValue& value,
                                   const LimitForm& form) {
  std::vector<Limit> limits;
  if (!value.is_list()) {
    ReadOneLimit(value, kWantLimit, form, limits);
    return limits;
  }
  const std::vector<FieldValue> items = value.Items(kWantLimit);
  if (items.empty()) {
    value.Fail(absl::StrCat("got an empty list, want ",
                            form.has_slots ? kWantSlots : kWantLimit));
  } else if (items.size() > kMaxLimits) {
    value.Fail(
        absl::StrCat("got ", items.size(), " limits, want 1 to ", kMaxLimits));
  }
  for (const FieldValue& item : items) {
    ReadOneLimit(item, kWantLimitItem, form, limits);
  }
  return limits;
}

void ReadTierEntry(const FieldValue& value, Tier& tier) {
  tier.entry = ReadEntryKey(value, kWantTierEntry).value_or("");
}

void ReadTierDefault(const FieldValue& value, Tier& tier) {
  tier.fallback = std::string(value.Text(kWantTierDefault).value_or(""));
}

constexpr std::array<FieldReader<Tier>, 3> kTierFields = {{
    {"entry", ReadTierEntry},
    {"limits", nullptr},
    {"default", ReadTierDefault},
}};

size_t CountOf(const FieldValue& value) {
  return value.is_list() ? value.node().items.size() : 1;
}

void ReadTierLimits(const FieldValue& value, const LimitForm& form,
                    Tier& tier) {
  const std::vector<NamedValue> tiers = value.Entries(kWantTierLimits);
  if (value.is_map() && (tiers.empty() || tiers.size() > kMaxTiers)) {
    value.Fail(
        absl::StrCat("got ", tiers.size(), " tiers, want 1 to ", kMaxTiers));
  }
  for (const NamedValue& named : tiers) {
    if (named.name.empty() || named.name.size() > kMaxValueBytes) {
      named.name_value.Fail(absl::StrCat("got ", named.name.size(),
                                         " bytes, want 1 to ", kMaxValueBytes));
    }
    tier.limits.emplace_back(std::string(named.name),
                             ReadLimitOrList(named.value, form));
    // All tiers share their buckets, one for each limit.
    const size_t got = CountOf(named.value);
    const size_t want = CountOf(tiers[0].value);
    if (got != want) {
      named.value.Fail(absl::StrCat("got ", got, " limits, want ", want,
                                    " as in the first tier"));
    }
  }
}

void ReadTier(const FieldValue& value, const LimitForm& form,
              RuleDraft& draft) {
  Tier& tier = draft.rule.tier.emplace();
  const std::vector<NamedValue> fields =
      ReadFields<Tier>(value, kWantTier, kTierFields, tier);
  if (!value.is_map()) return;
  if (FindField(fields, "entry") == nullptr) {
    value.FailMissing("entry", kWantTierEntry);
  }
  const FieldValue* limits = FindField(fields, "limits");
  if (limits == nullptr) return value.FailMissing("limits", kWantTierLimits);
  ReadTierLimits(*limits, form, tier);
  const FieldValue* fallback = FindField(fields, "default");
  if (fallback != nullptr && limits->is_map()) {
    CheckDefault(*fallback, kWantTierDefault, NamesOf(tier.limits));
  }
}

void ApplyBurst(const FieldValue& limit, const LimitForm& form,
                RuleDraft& draft) {
  const FieldValue* field = draft.Find("burst");
  if (field == nullptr || !draft.burst.has_value()) return;
  if (form.algorithm != nullptr && !HasBurst(*form.algorithm)) {
    return field->Fail(absl::StrCat("got ", field->Got(), " with ",
                                    std::string(form.algorithm->name()),
                                    ", which has no burst: leave it out"));
  }
  if (CountOf(limit) > 1) {
    return field->Fail(absl::StrCat(
        "got ", field->Got(), " with ", CountOf(limit),
        " limits, want burst with one "
        "limit: to set a burst, give that limit a rule of its own"));
  }
  if (draft.rule.limits.empty()) return;  // reported by its reader
  Limit& read = draft.rule.limits[0];
  const auto created =
      WithHold(Limit::Create(read.tokens(), absl::Nanoseconds(read.period_ns()),
                             *draft.burst),
               absl::Nanoseconds(read.hold_ns()));
  if (field->Check(created.status(), "burst")) read = *created;
}

}  // namespace

void ReadAlgorithm(const FieldValue& value, RuleDraft& draft) {
  draft.rule.algorithm = nullptr;
  const std::vector<absl::string_view> names = AlgorithmNames();
  const std::string want = absl::StrCat("one of ", absl::StrJoin(names, ", "));
  const auto text = value.Text(want);
  if (!text.has_value()) return;
  draft.rule.algorithm = FindAlgorithm(*text);
  if (draft.rule.algorithm == nullptr) {
    value.FailWant(absl::StrCat(want, DidYouMean(*text, names)));
  }
}

void ReadBurst(const FieldValue& value, RuleDraft& draft) {
  draft.burst = value.Count(kMaxCount);
}

void ReadLimits(const FieldValue& map, RuleDraft& draft) {
  const LimitForm form = ReadForm(map, draft);
  const FieldValue* limit = draft.Find("limit");
  const FieldValue* tier = draft.Find("tier");
  if (limit != nullptr) {
    draft.rule.limits = ReadLimitOrList(*limit, form);
    ApplyBurst(*limit, form, draft);
  }
  if (tier != nullptr) {
    ReadTier(*tier, form, draft);
    const FieldValue* burst = draft.Find("burst");
    if (limit != nullptr) {
      tier->Fail("got it beside limit, want one of the two");
    } else if (burst != nullptr) {
      burst->Fail(absl::StrCat("got ", burst->Got(),
                               " with a tier, want burst with one limit"));
    }
  }
  if (limit == nullptr && tier == nullptr) {
    map.FailMissing("limit", form.has_slots ? kWantSlots : kWantLimit);
  }
}

}  // namespace tollgate
