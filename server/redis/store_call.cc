#include "server/redis/store_call.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/redis/bucket_key.h"
#include "server/redis/state_text.h"

namespace tollgate::redis {
namespace {

// Of the hits that a request gives back: now, whatever Redis' clock says.
constexpr int64_t kNow = int64_t{1} << 62;

ScriptAskKind KindOf(const PlannedAsk& ask) {
  if (ask.kind == PlannedAsk::Kind::kRefund) return ScriptAskKind::kRefund;
  if (ask.kind == PlannedAsk::Kind::kLook) {
    return ask.shadow ? ScriptAskKind::kShadowLook : ScriptAskKind::kLook;
  }
  return ask.shadow ? ScriptAskKind::kShadowTake : ScriptAskKind::kTake;
}

bool Refuses(const PlannedAsk& ask, char mark) {
  return !ask.shadow && ask.group == 0 && (mark == 'r' || mark == 'b');
}

}  // namespace

StoreCall::StoreCall(const StoreContext& context, std::unique_ptr<Plan> plan,
                     StoreOperation operation, int64_t taken_at_ns,
                     int64_t deadline_ns, BucketStore::Decided done)
    : context_(context),
      plan_(std::move(plan)),
      operation_(operation),
      taken_at_ns_(taken_at_ns),
      deadline_ns_(deadline_ns),
      done_(std::move(done)),
      taking_(!plan_->is_peek() && !plan_->only_looks()) {
  if (plan_->is_done()) return;
  AddBuckets();
  if (operation == StoreOperation::kRefund || !plan_->is_peek()) AddAsks();
}

void StoreCall::AddBuckets() {
  for (size_t i = 0; i < plan_->buckets().size(); ++i) {
    const PlannedBucket& bucket = plan_->buckets()[i];
    ScriptKey key{BucketKey(bucket, plan_->request()), bucket.algorithm,
                  bucket.limit};
    const int partition = context_.runner.runner().PartitionOf(key.name);
    size_t part = 0;
    while (part < parts_.size() && parts_[part].partition != partition) ++part;
    if (part == parts_.size()) parts_.emplace_back().partition = partition;
    where_.emplace_back(part, parts_[part].buckets.size());
    parts_[part].buckets.push_back(i);
    parts_[part].request.keys.push_back(std::move(key));
  }
}

bool StoreCall::IsDead(uint32_t group) const {
  return group != 0 &&
         std::any_of(plan_->asks().begin(), plan_->asks().end(),
                     [group](const PlannedAsk& ask) {
                       return ask.group == group && !ask.shadow &&
                              ask.kind == PlannedAsk::Kind::kNever;
                     });
}

ScriptAsk StoreCall::ToScript(const PlannedAsk& ask) const {
  ScriptAsk out;
  out.kind = KindOf(ask);
  out.key = where_[ask.bucket].second;
  if (ask.penalty != PlannedAsk::kNone)
    out.penalty = where_[ask.penalty].second;
  out.group = ask.group;
  out.ask = ask.ask;
  out.taken_at_ns = operation_ == StoreOperation::kRefund ? taken_at_ns_ : kNow;
  return out;
}

void StoreCall::AddAsks() {
  uint32_t groups = 0;
  uint32_t last_group = 0;
  for (size_t i = 0; i < plan_->asks().size(); ++i) {
    const PlannedAsk& ask = plan_->asks()[i];
    if (ask.group != last_group && ask.group != 0) ++groups;
    last_group = ask.group;
    // What a bucket can never hold is not asked for, nor are the limits beside.
    if (ask.kind == PlannedAsk::Kind::kNever || IsDead(ask.group)) continue;
    Part& part = parts_[where_[ask.bucket].first];
    part.asks.push_back(i);
    part.request.asks.push_back(ToScript(ask));
  }
  parts_[0].request.has_all_quotas =
      parts_.size() == 1 && groups == plan_->quota_groups();
}

void StoreCall::AskNext() {
  if (next_ == parts_.size()) return Finish();
  Part& part = parts_[next_++];
  part.request.takes = taking_;
  part.request.writes = !part.asks.empty();
  context_.runner.Run(
      std::move(part.request), deadline_ns_,
      [self = shared_from_this(), &part](absl::StatusOr<ScriptAnswer> answer,
                                         ScriptRequest request) {
        self->Hear(part, std::move(answer), std::move(request));
      });
}

void StoreCall::Hear(Part& part, absl::StatusOr<ScriptAnswer> answer,
                     ScriptRequest request) {
  part.request = std::move(request);
  absl::Status status = answer.status();
  if (status.ok()) status = Read(part, *answer);
  if (!status.ok()) Fail(part, status);
  AskNext();
}

absl::Status StoreCall::Read(Part& part, const ScriptAnswer& answer) {
  if (now_ns_ == 0) now_ns_ = answer.now_ns;
  for (size_t i = 0; i < part.buckets.size(); ++i) {
    const ScriptKey& key = part.request.keys[i];
    PlannedBucket& bucket = plan_->buckets()[part.buckets[i]];
    absl::StatusOr<LooseBucket> found =
        ReadState(*key.algorithm, key.limit, answer.states[i], answer.now_ns);
    if (!found.ok()) {
      for (const size_t b : part.buckets) plan_->buckets()[b].found.reset();
      return absl::FailedPreconditionError(absl::StrCat(
          "the value at ", key.name,
          " is no bucket of Tollgate: ", found.status().message()));
    }
    bucket.found.emplace(*std::move(found));
  }
  part.marks = answer.marks;
  for (size_t i = 0; i < part.asks.size(); ++i) {
    if (Refuses(plan_->asks()[part.asks[i]], answer.marks[i])) taking_ = false;
  }
  return absl::OkStatus();
}

void StoreCall::Fail(Part& part, const absl::Status& status) {
  context_.failed(operation_, status);
  ScriptRequest refunds;
  refunds.writes = true;
  for (size_t i = 0; i < part.asks.size(); ++i) {
    const PlannedAsk& ask = plan_->asks()[part.asks[i]];
    if (ask.kind == PlannedAsk::Kind::kRefund) {
      refunds.asks.push_back(part.request.asks[i]);
    } else if (!ask.shadow && ask.group == 0 &&
               plan_->buckets()[ask.bucket].rule->rule.on_outage ==
                   OutagePolicy::kRefuse) {
      taking_ = false;
    }
  }
  // What somebody returns must not be lost.
  if (refunds.asks.empty() || !DidNotRun(status)) return;
  refunds.keys = part.request.keys;
  context_.refunds.Add(std::move(refunds));
}

void StoreCall::Finish() {
  if (operation_ == StoreOperation::kRefund) {
    done_(context_.planner.ConcludeRefund(*plan_, taken_at_ns_, now_ns_));
    return;
  }
  Decision& decision = context_.planner.Conclude(*plan_, now_ns_);
  for (const Part& part : parts_) GiveBack(part);
  PlaceSlots(decision);
  done_(decision);
}

void StoreCall::GiveBack(const Part& part) {
  ScriptRequest refunds;
  refunds.writes = true;
  for (size_t i = 0; i < part.marks.size(); ++i) {
    const PlannedAsk& ask = plan_->asks()[part.asks[i]];
    if (part.marks[i] != 't' || plan_->IsKept(ask)) continue;
    ScriptAsk refund = part.request.asks[i];
    refund.kind = ScriptAskKind::kRefund;
    refund.penalty = kNoKey;
    refund.group = 0;
    refund.taken_at_ns = plan_->buckets()[ask.bucket].found->at_ns();
    refunds.asks.push_back(refund);
  }
  if (refunds.asks.empty()) return;
  refunds.keys = part.request.keys;
  context_.refunds.Add(std::move(refunds));
}

void StoreCall::PlaceSlots(Decision& decision) {
  places_.reserve(decision.slots.size());
  for (HeldSlots& slots : decision.slots) {
    for (size_t i = 0; i < plan_->buckets().size(); ++i) {
      const PlannedBucket& bucket = plan_->buckets()[i];
      if (!(bucket.fingerprint == slots.fingerprint)) continue;
      if (!bucket.found.has_value()) break;  // held by this process
      const auto [part, key] = where_[i];
      places_.push_back(SlotsPlace(parts_[part].request.keys[key]));
      slots.place = places_.back();
    }
  }
}

std::string SlotsPlace(const ScriptKey& key) {
  return absl::StrCat(LimitText(key.limit), " ", key.name);
}

bool ParseSlotsPlace(absl::string_view place, ScriptKey& key) {
  const size_t space = place.find(' ');
  if (space == absl::string_view::npos) return false;
  const absl::StatusOr<Limit> limit = ParseLimitText(place.substr(0, space));
  key.algorithm = FindAlgorithm("concurrency");
  if (!limit.ok() ||
      !IsBucketKey(place.substr(space + 1), key.algorithm->name())) {
    return false;
  }
  key.limit = *limit;
  key.name = std::string(place.substr(space + 1));
  return true;
}

}  // namespace tollgate::redis
