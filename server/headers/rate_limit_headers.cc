#include "server/headers/rate_limit_headers.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tollgate {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
// The largest integer of a structured field has 15 digits.
constexpr uint64_t kMaxInteger = 999'999'999'999'999;

bool Refuses(const Quota& quota) { return quota.outcome != Outcome::kAllowed; }

uint64_t Integer(uint64_t number) { return std::min(number, kMaxInteger); }

// The whole seconds in which an empty bucket fills, rounded up; 1 or more. The
// period if nothing ever fills it.
uint64_t FillSeconds(const Quota& quota) {
  if (quota.burst == 0) {  // refuses everything, in every period
    return std::max<uint64_t>(WholeSeconds(quota.period_ns), 1);
  }
  const absl::uint128 whole =
      absl::uint128(quota.burst) * std::max<int64_t>(quota.period_ns, 1);
  const absl::uint128 part =
      absl::uint128(std::max<uint64_t>(quota.tokens, 1)) *
      static_cast<uint64_t>(kSecondNs);
  const absl::uint128 seconds = (whole + part - 1) / part;
  return seconds > kMaxInteger
             ? kMaxInteger
             : std::max<uint64_t>(absl::Uint128Low64(seconds), 1);
}

// Which of two the caller should rather know of.
bool IsMorePressing(const Quota& a, const Quota& b) {
  if (Refuses(a) != Refuses(b)) return Refuses(a);
  const bool hopeless = a.outcome == Outcome::kImpossible;
  if (hopeless != (b.outcome == Outcome::kImpossible)) return hopeless;
  if (a.retry_after_ns != b.retry_after_ns) {
    return a.retry_after_ns > b.retry_after_ns;
  }
  return a.remaining < b.remaining;
}

const Quota& MostTelling(absl::Span<const Quota> quotas) {
  const Quota* chosen = &quotas.front();
  for (const Quota& quota : quotas) {
    if (Refuses(quota) ||
        (!Refuses(*chosen) && quota.remaining < chosen->remaining)) {
      chosen = &quota;
    }
  }
  return *chosen;
}

// Null if nothing refuses, or if waiting never helps.
std::optional<uint64_t> RetryAfterSeconds(absl::Span<const Quota> quotas) {
  std::optional<uint64_t> longest;
  for (const Quota& quota : quotas) {
    if (quota.outcome == Outcome::kImpossible) return std::nullopt;
    if (!Refuses(quota)) continue;
    longest = std::max(longest.value_or(0), WholeSeconds(quota.retry_after_ns));
  }
  return longest;
}

void AddLegacy(absl::Span<const Quota> quotas, std::vector<HeaderField>& out) {
  const Quota& quota = MostTelling(quotas);
  out.push_back({"X-RateLimit-Limit", absl::StrCat(quota.burst)});
  out.push_back({"X-RateLimit-Remaining", absl::StrCat(quota.remaining)});
  out.push_back(
      {"X-RateLimit-Reset", absl::StrCat(WholeSeconds(quota.reset_after_ns))});
}

using Listed = absl::InlinedVector<const Quota*, kMaxListedQuotas>;

bool IsSamePolicy(const Quota& a, const Quota& b) {
  return a.name == b.name && a.burst == b.burst &&
         FillSeconds(a) == FillSeconds(b);
}

// The most pressing of each policy, in the order of `quotas`.
Listed Choose(absl::Span<const Quota> quotas) {
  std::vector<const Quota*> all;
  all.reserve(quotas.size());
  for (const Quota& quota : quotas) all.push_back(&quota);
  std::stable_sort(all.begin(), all.end(), [](const Quota* a, const Quota* b) {
    return IsMorePressing(*a, *b);
  });
  Listed listed;
  for (const Quota* quota : all) {
    if (listed.size() == kMaxListedQuotas) break;
    const bool told = std::any_of(
        listed.begin(), listed.end(),
        [&](const Quota* other) { return IsSamePolicy(*quota, *other); });
    if (!told) listed.push_back(quota);
  }
  std::sort(listed.begin(), listed.end());  // all are of one array
  return listed;
}

// What a string of a structured field holds for the first of `text`.
std::string Escaped(absl::string_view text, size_t max_bytes) {
  constexpr absl::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    std::array<char, 3> piece = {c};
    size_t size = 1;
    if (byte < 0x20 || byte > 0x7E || c == '%') {
      piece = {'%', kHex[byte >> 4], kHex[byte & 0xF]};
      size = 3;
    } else if (c == '"' || c == '\\') {
      piece = {'\\', c};
      size = 2;
    }
    if (out.size() + size > max_bytes) break;
    out.append(piece.data(), size);
  }
  return out;
}

// The policy's name: the rule's, and where several limits of one rule are
// listed, its limit too.
std::string PolicyName(const Quota& quota, const Listed& listed) {
  const auto same_name = [&](const Quota* other) {
    return other->name == quota.name;
  };
  if (std::count_if(listed.begin(), listed.end(), same_name) == 1) {
    return StructuredString(quota.name);
  }
  const std::string limit =
      absl::StrCat(" ", quota.burst, "/", FillSeconds(quota), "s");
  return absl::StrCat("\"",
                      Escaped(quota.name, kMaxHeaderNameBytes - limit.size()),
                      limit, "\"");
}

void AddDraft10(absl::Span<const Quota> quotas, std::vector<HeaderField>& out) {
  const Listed listed = Choose(quotas);
  const bool refused = Refuses(MostTelling(quotas));
  std::string policies;
  std::string states;
  for (const Quota* quota : listed) {
    const std::string name = PolicyName(*quota, listed);
    absl::StrAppend(&policies, policies.empty() ? "" : ", ", name,
                    ";q=", Integer(quota->burst), ";w=", FillSeconds(*quota));
    if (refused && !Refuses(*quota)) continue;
    absl::StrAppend(&states, states.empty() ? "" : ", ", name,
                    ";r=", Integer(quota->remaining));
    if (quota->outcome == Outcome::kImpossible) continue;
    const int64_t wait_ns =
        refused ? quota->retry_after_ns : quota->reset_after_ns;
    absl::StrAppend(&states, ";t=", WholeSeconds(wait_ns));
  }
  out.push_back({"RateLimit-Policy", std::move(policies)});
  out.push_back({"RateLimit", std::move(states)});
}

}  // namespace

absl::StatusOr<HeaderProfile> ParseHeaderProfile(absl::string_view name) {
  if (name == "none") return HeaderProfile::kNone;
  if (name == "legacy") return HeaderProfile::kLegacy;
  if (name == "draft10") return HeaderProfile::kDraft10;
  return absl::InvalidArgumentError(
      absl::StrCat("got \"", name, "\", want legacy, draft10 or none"));
}

std::vector<HeaderField> RateLimitHeaders(HeaderProfile profile,
                                          absl::Span<const Quota> quotas) {
  std::vector<HeaderField> out;
  if (profile == HeaderProfile::kNone || quotas.empty()) return out;
  if (profile == HeaderProfile::kLegacy) {
    AddLegacy(quotas, out);
  } else {
    AddDraft10(quotas, out);
  }
  const std::optional<uint64_t> retry_after = RetryAfterSeconds(quotas);
  if (retry_after.has_value()) {
    out.push_back({"Retry-After", absl::StrCat(*retry_after)});
  }
  return out;
}

uint64_t WholeSeconds(int64_t ns) {
  if (ns <= 0) return 0;
  const int64_t seconds = ns / kSecondNs;
  return static_cast<uint64_t>(ns % kSecondNs == 0 ? seconds : seconds + 1);
}

std::string StructuredString(absl::string_view text) {
  return absl::StrCat("\"", Escaped(text, kMaxHeaderNameBytes), "\"");
}

}  // namespace tollgate
