#include "server/envoy/envoy_answer.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "server/envoy/dynamic_metadata.h"
#include "server/headers/quota.h"

namespace tollgate {
namespace {

using envoy::service::ratelimit::v3::RateLimitResponse;
using DescriptorStatus = RateLimitResponse::DescriptorStatus;

bool IsOver(const RuleStatus& status) {
  return status.outcome != Outcome::kAllowed;
}
bool Refuses(const RuleStatus& status) {
  return IsOver(status) && !status.shadow;
}
// Whether it has a limit that was looked at.
bool HasLimit(const RuleStatus& status) {
  return !status.unlimited && status.action != BucketAction::kNone;
}

uint32_t RemainingOf(const RuleStatus& status) {
  if (IsOver(status)) return 0;
  return static_cast<uint32_t>(std::min<uint64_t>(
      status.remaining, std::numeric_limits<uint32_t>::max()));
}

void FillLimit(const RuleStatus& status, RateLimitResponse::RateLimit& out) {
  const EnvoyLimit limit = ToEnvoyLimit(status);
  out.set_requests_per_unit(static_cast<uint32_t>(std::min<uint64_t>(
      limit.requests_per_unit, std::numeric_limits<uint32_t>::max())));
  // Of a limit per several units no single unit would be true.
  if (limit.unit_multiplier == 1) {
    out.set_unit(static_cast<RateLimitResponse::RateLimit::Unit>(limit.unit));
  }
  out.set_name(limit.name.data(), limit.name.size());
}

void FillStatus(const RuleStatus& status, DescriptorStatus& out) {
  FillLimit(status, *out.mutable_current_limit());
  out.set_limit_remaining(RemainingOf(status));
  out.mutable_duration_until_reset()->set_seconds(
      static_cast<int64_t>(WholeSeconds(status.reset_after_ns)));
}

// Which of one descriptor's limits it tells; null before the first.
const RuleStatus* MoreTelling(const RuleStatus* a, const RuleStatus& b) {
  if (a == nullptr || Refuses(b)) return &b;
  return !Refuses(*a) && RemainingOf(b) < RemainingOf(*a) ? &b : a;
}

// The statuses of one descriptor, which may be none.
void FillDescriptor(absl::Span<const RuleStatus* const> statuses,
                    DescriptorStatus& out) {
  const RuleStatus* told = nullptr;
  bool unlimited = false;
  for (const RuleStatus* status : statuses) {
    if (HasLimit(*status)) told = MoreTelling(told, *status);
    if (status->unlimited) unlimited = true;
  }
  out.set_code(RateLimitResponse::OK);
  if (told != nullptr) {
    if (Refuses(*told)) out.set_code(RateLimitResponse::OVER_LIMIT);
    FillStatus(*told, out);
  } else if (unlimited) {
    out.set_limit_remaining(std::numeric_limits<uint32_t>::max());
  }
}

// What headers tell: every limit that was looked at, also of shadow rules, but
// as refusing only what refuses the request.
std::vector<Quota> HeaderQuotas(const Decision& decision) {
  std::vector<Quota> quotas;
  for (const RuleStatus& status : decision.statuses) {
    if (!HasLimit(status)) continue;
    Quota& quota = quotas.emplace_back(QuotaOf(status));
    const EnvoyLimit limit = ToEnvoyLimit(status);
    if (!limit.name.empty()) quota.name = limit.name;
    quota.remaining = RemainingOf(status);
    if (status.refuses_all) {
      quota.burst = 0;
      quota.period_ns = status.reset_after_ns;
    }
    if (decision.allowed() || status.shadow) {
      quota.outcome = Outcome::kAllowed;
      quota.retry_after_ns = 0;
    }
  }
  return quotas;
}

}  // namespace

void ToEnvoy(const Decision& decision,
             const envoy::service::ratelimit::v3::RateLimitRequest& request,
             const std::vector<size_t>& places,
             const EnvoyAnswerOptions& options, RateLimitResponse& response) {
  response.set_overall_code(decision.allowed() || options.shadow_mode
                                ? RateLimitResponse::OK
                                : RateLimitResponse::OVER_LIMIT);
  absl::InlinedVector<const RuleStatus*, 16> statuses;
  for (const RuleStatus& status : decision.statuses) {
    statuses.push_back(&status);
  }
  if (!decision.by_descriptor) {  // then they are in the order of the rules
    std::stable_sort(statuses.begin(), statuses.end(),
                     [](const RuleStatus* a, const RuleStatus* b) {
                       return a->descriptor < b->descriptor;
                     });
  }
  response.mutable_statuses()->Reserve(request.descriptors_size());
  size_t shown = 0;  // of `places`
  size_t next = 0;   // of `statuses`
  for (int i = 0; i < request.descriptors_size(); ++i) {
    const size_t first = next;
    if (shown < places.size() && places[shown] == static_cast<size_t>(i)) {
      while (next < statuses.size() && statuses[next]->descriptor == shown) {
        ++next;
      }
      ++shown;
    }
    FillDescriptor(absl::MakeConstSpan(statuses).subspan(first, next - first),
                   *response.add_statuses());
  }
  if (options.headers != HeaderProfile::kNone) {
    for (HeaderField& field :
         RateLimitHeaders(options.headers, HeaderQuotas(decision))) {
      auto& header = *response.add_response_headers_to_add();
      header.set_key(std::move(field.name));
      header.set_value(std::move(field.value));
    }
  }
  if (options.dynamic_metadata) {
    AddDynamicMetadata(request, decision, *response.mutable_dynamic_metadata());
  }
}

}  // namespace tollgate
