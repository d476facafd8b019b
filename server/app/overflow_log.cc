#include "server/app/overflow_log.h"

#include "absl/strings/str_cat.h"
#include "spdlog/spdlog.h"

namespace tollgate {

OverflowNotice NoticeOverflow(uint64_t count, size_t max_buckets,
                              uint64_t* said) {
  if (count == *said) return {"", absl::Seconds(1)};
  const uint64_t more = count - *said;
  *said = count;
  return {
      absl::StrCat("no room for more than ", max_buckets, " buckets: ", more,
                   " requests of new keys shared their rules' "
                   "overflow buckets; tollgate_overflow_total says which, "
                   "--max-buckets makes room"),
      absl::Minutes(1)};
}

OverflowLog::OverflowLog(const Limiter& limiter, const Metrics& metrics)
    : thread_([&limiter, &metrics, said = uint64_t{0}]() mutable {
        const OverflowNotice notice = NoticeOverflow(
            metrics.overflow_count(), limiter.max_buckets(), &said);
        if (!notice.line.empty()) spdlog::warn("{}", notice.line);
        return notice.pause;
      }) {}

}  // namespace tollgate
