#ifndef TOLLGATE_SERVER_RPC_ADMIN_HANDLER_H_
#define TOLLGATE_SERVER_RPC_ADMIN_HANDLER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "server/base/finish.h"
#include "server/limiter/bucket_store.h"
#include "server/limiter/limiter.h"
#include "server/rpc/convert.h"
#include "server/rpc/rpc_server.h"
#include "tollgate/v1/admin.pb.h"

namespace tollgate {

// The methods of Admin as functions of messages. Each thread has its own, which
// keeps its storage between calls. Thread-compatible.
//
// `deadline_ns` is on the limiter's clock; `response` must be empty. What asks
// buckets may finish later and on another thread; both messages live until
// then. On an error nothing was changed: INVALID_ARGUMENT names the field.
class AdminHandler {
 public:
  // All must outlive the handler and its calls; `store` has the buckets under
  // the rules of `limiter`. `rules_in_force` must not be null.
  AdminHandler(Limiter& limiter, BucketStore& store,
               RulesInForceFn rules_in_force, RpcObserver& observer)
      : limiter_(limiter),
        store_(store),
        rules_in_force_(std::move(rules_in_force)),
        observer_(observer) {}

  absl::Status GetRules(const v1::GetRulesRequest& request, int64_t deadline_ns,
                        v1::GetRulesResponse& response);

  // Takes time in the number of the domain's rules.
  absl::Status Explain(const v1::ExplainRequest& request, int64_t deadline_ns,
                       v1::ExplainResponse& response);

  void PeekBucket(const v1::PeekBucketRequest& request, int64_t deadline_ns,
                  v1::PeekBucketResponse& response, Finish finish);

  void ResetBucket(const v1::ResetBucketRequest& request, int64_t deadline_ns,
                   v1::ResetBucketResponse& response, Finish finish);

  // FAILED_PRECONDITION if the limiter keeps no refused keys, NOT_FOUND if
  // neither a rule in force nor a refusal has the names that it asks for.
  absl::Status TopRefused(const v1::TopRefusedRequest& request,
                          int64_t deadline_ns,
                          v1::TopRefusedResponse& response);

 private:
  absl::Status Invalid(absl::Status status);
  // OK, or what is bad of a request for the buckets of one rule.
  absl::Status Check(const Request& request, const std::string& rule);
  // NOT_FOUND names the field that no rule in force has.
  absl::Status CheckInForce(const v1::TopRefusedRequest& request);
  // What becomes of a look at the buckets of `request` that told `decision`.
  absl::Status Show(const v1::PeekBucketRequest& request,
                    const Decision& decision, v1::PeekBucketResponse& response);

  Limiter& limiter_;
  BucketStore& store_;
  const RulesInForceFn rules_in_force_;
  RpcObserver& observer_;
  RequestView view_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_ADMIN_HANDLER_H_
