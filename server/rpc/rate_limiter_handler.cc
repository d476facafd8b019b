#include "server/rpc/rate_limiter_handler.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/limiter/ask_store.h"
#include "server/limiter/decision.h"
#include "server/limiter/request.h"

namespace tollgate {
namespace {

// A call that is over, with OK, once all of its parts are. Deletes itself then.
class Joint {
 public:
  // `parts`: 1 or more.
  Joint(size_t parts, Finish finish)
      : left_(parts), finish_(std::move(finish)) {}
  Joint(const Joint&) = delete;
  Joint& operator=(const Joint&) = delete;
  virtual ~Joint() = default;

  // Once for each part, on any thread.
  void Done() {
    // What every part has written is to be seen by whoever finishes.
    if (left_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    Finish finish = std::move(finish_);
    delete this;
    finish(absl::OkStatus());
  }

 private:
  std::atomic<size_t> left_;
  Finish finish_;
};

// The answers of a batch.
class Batch final : public Joint {
 public:
  // One request, and what its own Finish needs.
  struct Part {
    Batch* batch;
    v1::BatchAnswer* answer;
    int number;
    void Done(const absl::Status& status) const;
  };

  Batch(v1::ShouldAllowBatchResponse& response, int size, Finish finish)
      : Joint(static_cast<size_t>(size), std::move(finish)) {
    // All of them first: parts that come later write where others do not.
    response.mutable_answers()->Reserve(size);
    parts_.reserve(static_cast<size_t>(size));
    for (int i = 0; i < size; ++i) {
      parts_.push_back({this, response.add_answers(), i});
    }
  }

  [[nodiscard]] const Part& part(int number) const {
    return parts_[static_cast<size_t>(number)];
  }

 private:
  std::vector<Part> parts_;
};

void Batch::Part::Done(const absl::Status& status) const {
  if (!status.ok()) {
    v1::BatchError& error = *answer->mutable_error();  // replaces the decision
    error.set_code(static_cast<int32_t>(status.code()));
    const std::string message(status.message());
    error.set_message(absl::IsInvalidArgument(status)
                          ? absl::StrCat("requests[", number, "].", message)
                          : message);
  }
  batch->Done();
}

}  // namespace

absl::Status RateLimiterHandler::Invalid(absl::Status status) {
  observer_.OnInvalid();
  return status;
}

absl::Status RateLimiterHandler::Answer(const Decision& decision,
                                        v1::ShouldAllowResponse& response) {
  if (decision.outcome == Outcome::kExpired) {
    observer_.OnExpired();
    return absl::DeadlineExceededError(
        "the deadline had passed before the request was decided");
  }
  ToProto(decision, response);
  return absl::OkStatus();
}

void RateLimiterHandler::ShouldAllow(const v1::ShouldAllowRequest& request,
                                     int64_t deadline_ns,
                                     v1::ShouldAllowResponse& response,
                                     Finish finish) {
  const Request& view = view_.Show(request, deadline_ns);
  absl::Status valid = ValidateRequest(view);
  if (!valid.ok()) return finish(Invalid(std::move(valid)));
  AskToDecide(store_, view,
              [this, &response,
               finish = std::move(finish)](const Decision& decision) mutable {
                finish(Answer(decision, response));
              });
}

void RateLimiterHandler::ShouldAllowBatch(
    const v1::ShouldAllowBatchRequest& request, int64_t deadline_ns,
    DomainCheck check, v1::ShouldAllowBatchResponse& response, Finish finish) {
  const int size = request.requests_size();
  if (size < 1 || size > kMaxBatch) {
    return finish(Invalid(absl::InvalidArgumentError(
        absl::StrCat("requests: got ", size, ", want 1 to ", kMaxBatch))));
  }
  // Owns itself; it and its parts are there until the last of them is done.
  auto* const batch = new Batch(response, size, std::move(finish));
  for (int i = 0; i < size; ++i) {
    const Batch::Part& part = batch->part(i);
    const absl::Status allowed = check(request.requests(i).domain());
    if (!allowed.ok()) {
      part.Done(allowed);
      continue;
    }
    ShouldAllow(request.requests(i), deadline_ns,
                *part.answer->mutable_decision(),
                [&part](const absl::Status& status) { part.Done(status); });
  }
}

void RateLimiterHandler::Refund(const v1::RefundRequest& request,
                                int64_t deadline_ns,
                                v1::RefundResponse& response, Finish finish) {
  const Request& view =
      view_.Show(request.domain(), request.descriptors(),
                 request.has_cost() ? request.cost() : 1, deadline_ns);
  absl::Status valid = ValidateRequest(view);
  if (!valid.ok()) return finish(Invalid(std::move(valid)));
  if (view.cost == 0) {
    return finish(
        Invalid(absl::InvalidArgumentError("cost: got 0, want at least 1")));
  }
  int64_t taken_at_ns = limiter_clock_.NowNs();
  if (request.has_decided_at()) {
    const absl::StatusOr<int64_t> decided_at_ns = ToNs(request.decided_at());
    if (!decided_at_ns.ok()) {
      return finish(Invalid(absl::InvalidArgumentError(absl::StrCat(
          "decided_at: ", std::string(decided_at_ns.status().message())))));
    }
    taken_at_ns = std::min(taken_at_ns, *decided_at_ns);
  }
  const absl::StatusOr<std::vector<Fingerprint>> overflow =
      OverflowOf(request.overflow());
  if (!overflow.ok()) return finish(Invalid(overflow.status()));
  AskStore(
      store_, view,
      [&](const Request& asked, auto done) {
        store_.Refund(asked, taken_at_ns, *overflow, std::move(done));
      },
      [&response,
       finish = std::move(finish)](const Decision& decision) mutable {
        for (const RuleStatus& status : decision.statuses) {
          ToProto(status, *response.add_statuses());
        }
        finish(absl::OkStatus());
      });
}

void RateLimiterHandler::Release(const v1::ReleaseRequest& request, int64_t,
                                 v1::ReleaseResponse&, Finish finish) {
  absl::StatusOr<std::vector<HeldSlots>> slots = SlotsOf(request.ticket());
  if (!slots.ok()) return finish(Invalid(slots.status()));
  auto* const joint = new Joint(slots->size(), std::move(finish));
  for (const HeldSlots& held : *slots) {
    store_.Release(held, [joint](bool /*found*/) { joint->Done(); });
  }
}

}  // namespace tollgate
