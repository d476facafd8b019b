#ifndef TOLLGATE_SERVER_LIMITER_MEMORY_STORE_H_
#define TOLLGATE_SERVER_LIMITER_MEMORY_STORE_H_

#include <utility>

#include "server/limiter/bucket_store.h"
#include "server/limiter/limiter.h"

namespace tollgate {

// The store that is this process: what a limiter keeps. Every call finishes
// before it returns. Thread-safe.
class MemoryStore final : public BucketStore {
 public:
  // `limiter` must outlive the store.
  explicit MemoryStore(Limiter& limiter) : limiter_(limiter) {}

  [[nodiscard]] bool is_immediate() const override { return true; }

  void Decide(const Request& request, Decided done) override {
    done(limiter_.Decide(request));
  }
  void Refund(const Request& request, int64_t taken_at_ns,
              absl::Span<const Fingerprint> overflow, Decided done) override {
    done(limiter_.Refund(request, taken_at_ns, overflow));
  }
  void Release(const HeldSlots& slots,
               absl::AnyInvocable<void(bool found)> done) override {
    done(limiter_.Release(slots));
  }
  void Reset(const Request& request, absl::string_view rule,
             absl::AnyInvocable<void(size_t count)> done) override {
    done(limiter_.Reset(request, rule));
  }

 private:
  Limiter& limiter_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_MEMORY_STORE_H_
