#include "server/limiter/limit.h"

#include <algorithm>
#include <limits>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"

namespace tollgate {
namespace {

constexpr uint64_t kMaxTokens = 0xFFFFFFFF;
constexpr absl::Duration kMaxPeriod = absl::Hours(24 * 3650);
constexpr absl::Duration kMaxFill = absl::Hours(24 * 36500);

absl::Status CheckTokens(absl::string_view field, uint64_t got) {
  if (got >= 1 && got <= kMaxTokens) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": got ", got, ", want 1 to ", kMaxTokens));
}

ExactDuration RefillTime(uint64_t cost, int64_t period_ns, uint64_t tokens) {
  const absl::uint128 scaled =
      absl::uint128(cost) * static_cast<uint64_t>(period_ns);
  return {static_cast<int64_t>(absl::Uint128Low64(scaled / tokens)),
          absl::Uint128Low64(scaled % tokens)};
}

}  // namespace

absl::StatusOr<Limit> Limit::Create(uint64_t tokens, absl::Duration period,
                                    uint64_t burst) {
  absl::Status status = CheckTokens("tokens", tokens);
  if (status.ok()) status = CheckTokens("burst", burst);
  if (!status.ok()) return status;
  if (period <= absl::ZeroDuration() || period > kMaxPeriod ||
      period != absl::Nanoseconds(absl::ToInt64Nanoseconds(period))) {
    return absl::InvalidArgumentError(
        absl::StrCat("period: got ", absl::FormatDuration(period),
                     ", want whole nanoseconds, 1ns to 3650 days"));
  }
  const int64_t period_ns = absl::ToInt64Nanoseconds(period);
  if (absl::uint128(burst) * static_cast<uint64_t>(period_ns) / tokens >
      static_cast<uint64_t>(absl::ToInt64Nanoseconds(kMaxFill))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "burst: got ", burst, ", which takes over 36500 days to refill at ",
        tokens, " tokens per ", absl::FormatDuration(period), ", want less"));
  }
  Limit limit;
  limit.tokens_ = static_cast<uint32_t>(tokens);
  limit.burst_ = static_cast<uint32_t>(burst);
  limit.period_ns_ = period_ns;
  limit.token_time_ = RefillTime(1, period_ns, tokens);
  limit.fill_time_ = RefillTime(burst, period_ns, tokens);
  limit.reciprocal_ = Reciprocal(period_ns);
  return limit;
}

absl::StatusOr<Limit> Limit::WithHold(absl::Duration hold) const {
  if (hold < absl::ZeroDuration() || hold > kMaxPeriod ||
      hold != absl::Nanoseconds(absl::ToInt64Nanoseconds(hold))) {
    return absl::InvalidArgumentError(
        absl::StrCat("got ", absl::FormatDuration(hold),
                     ", want whole nanoseconds, 0 to 3650 days"));
  }
  Limit limit = *this;
  limit.hold_ns_ = absl::ToInt64Nanoseconds(hold);
  return limit;
}

absl::StatusOr<Limit> Limit::Share(uint32_t percent) const {
  const auto share = [percent](uint64_t whole) {
    return std::max<uint64_t>(whole * percent / 100, 1);  // both below 2^32
  };
  const absl::StatusOr<Limit> limit =
      Create(share(tokens_), absl::Nanoseconds(period_ns_), share(burst_));
  return limit.ok() ? limit->WithHold(absl::Nanoseconds(hold_ns_)) : limit;
}

std::string Limit::ToString() const {
  std::string text = absl::StrCat(
      tokens_, "/", absl::FormatDuration(absl::Nanoseconds(period_ns_)));
  if (burst_ != tokens_) absl::StrAppend(&text, " burst ", burst_);
  return text;
}

}  // namespace tollgate
