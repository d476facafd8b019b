#ifndef TOLLGATE_SERVER_REDIS_STORE_CALL_H_
#define TOLLGATE_SERVER_REDIS_STORE_CALL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/limiter/bucket_store.h"
#include "server/limiter/plan.h"
#include "server/limiter/planner.h"
#include "server/redis/redis_store.h"
#include "server/redis/refund_queue.h"
#include "server/redis/request_runner.h"

namespace tollgate::redis {

// What calls of one store share.
struct StoreContext {
  Planner& planner;
  RequestRunner& runner;
  RefundQueue& refunds;
  std::function<void(StoreOperation, const absl::Status&)> failed;
};

// One request on its way: asks the partitions that have its buckets, one after
// the other, puts what they say into the plan, and concludes. Once one refuses,
// the others are only looked at. Lives until it has answered.
// Thread-compatible: one thread at a time goes on with it.
class StoreCall : public std::enable_shared_from_this<StoreCall> {
 public:
  // A refund is of what was taken at `taken_at_ns`.
  StoreCall(const StoreContext& context, std::unique_ptr<Plan> plan,
            StoreOperation operation, int64_t taken_at_ns, int64_t deadline_ns,
            BucketStore::Decided done);

  // Once.
  void Start() { AskNext(); }

 private:
  // Buckets of one partition, and what is wanted of them, by their numbers in
  // the plan.
  struct Part {
    int partition = 0;
    std::vector<size_t> buckets;
    std::vector<size_t> asks;
    ScriptRequest request;
    std::string marks;  // empty until it has answered
  };

  void AddBuckets();
  void AddAsks();
  // Whether some limit of the quota_mode group can never hold what is asked.
  [[nodiscard]] bool IsDead(uint32_t group) const;
  ScriptAsk ToScript(const PlannedAsk& ask) const;
  void AskNext();
  void Hear(Part& part, absl::StatusOr<ScriptAnswer> answer,
            ScriptRequest request);
  absl::Status Read(Part& part, const ScriptAnswer& answer);
  void Fail(Part& part, const absl::Status& status);
  void Finish();
  // Gives back what a part took and the decision does not keep.
  void GiveBack(const Part& part);
  // Says where the slots of the decision are held.
  void PlaceSlots(Decision& decision);

  const StoreContext& context_;
  const std::unique_ptr<Plan> plan_;
  const StoreOperation operation_;
  const int64_t taken_at_ns_;
  const int64_t deadline_ns_;
  BucketStore::Decided done_;
  // Of each of the plan's buckets: its part, and which of its keys it is.
  std::vector<std::pair<size_t, size_t>> where_;
  std::vector<Part> parts_;
  size_t next_ = 0;
  bool taking_ = false;
  int64_t now_ns_ = 0;  // as the first part that answered has it
  std::vector<std::string> places_;
};

// The text of HeldSlots::place for slots in the bucket at a key, and back;
// false if it is none.
[[nodiscard]] std::string SlotsPlace(const ScriptKey& key);
[[nodiscard]] bool ParseSlotsPlace(absl::string_view place, ScriptKey& key);

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_STORE_CALL_H_
