#ifndef TOLLGATE_SERVER_LIMITER_BUCKET_STORE_H_
#define TOLLGATE_SERVER_LIMITER_BUCKET_STORE_H_

#include <cstddef>
#include <cstdint>

#include "absl/functional/any_invocable.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/keyed_hash.h"
#include "server/limiter/decision.h"
#include "server/limiter/request.h"

namespace tollgate {

// Where buckets live, and thus where requests are decided under the rules in
// force: in this process, or where several processes share them. What a call
// means is the same for every store; see Limiter.
//
// A call finishes by calling its `done` exactly once: maybe before it returns,
// maybe later and on another thread, which `done` must not hold up. Until then
// the caller keeps the request alive with all that it views; other arguments
// are not looked at once the call has returned. What a Decision points at is
// valid while `done` runs. Thread-safe.
class BucketStore {
 public:
  using Decided = absl::AnyInvocable<void(const Decision&)>;

  virtual ~BucketStore() = default;

  // Whether every call finishes before it returns, so that its caller may keep
  // the request where the next one will lie.
  [[nodiscard]] virtual bool is_immediate() const = 0;

  // Decides a request, which must satisfy ValidateRequest.
  virtual void Decide(const Request& request, Decided done) = 0;

  // Gives back what `request`, allowed at `taken_at_ns`, took; tells the
  // buckets as they are then. `overflow` is the decision's.
  virtual void Refund(const Request& request, int64_t taken_at_ns,
                      absl::Span<const Fingerprint> overflow, Decided done) = 0;

  // Frees the slots that a decision held; tells whether there is such a bucket
  // still.
  virtual void Release(const HeldSlots& slots,
                       absl::AnyInvocable<void(bool found)> done) = 0;

  // Makes every bucket that `request` selects full again; of one rule alone if
  // `rule` is not empty. Tells how many there were.
  virtual void Reset(const Request& request, absl::string_view rule,
                     absl::AnyInvocable<void(size_t count)> done) = 0;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_BUCKET_STORE_H_
