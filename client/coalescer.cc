#include "client/coalescer.h"

#include <algorithm>
#include <utility>

namespace tollgate::client {
namespace {

// At most, of one question in a batch: text, and a tag and a length before each
// text and message.
size_t WireBytes(const Request& request) {
  constexpr size_t kField = 6;
  size_t bytes = 4 * kField + request.domain.size();
  for (const Descriptor& descriptor : request.descriptors) {
    bytes += kField;
    for (const Entry& entry : descriptor) {
      bytes += 3 * kField + entry.key.size() + entry.value.size();
    }
  }
  return bytes;
}

const absl::Status& Late() {
  static const auto& late =
      *new absl::Status(absl::DeadlineExceededError("no answer in time"));
  return late;
}

// Batches that are kept for use; a burst does not hold its memory for ever.
constexpr size_t kIdleBatches = 8;

}  // namespace

// Calls that travel together. While it gathers or is out, `owner`'s mutex
// guards it; afterwards who delivers it has it alone. Used again, with the
// memory that its questions have.
class Coalescer::Batch final : public ReplyHandler, public BatchHandler {
 public:
  explicit Batch(Coalescer& owner) : owner_(owner) {}

  void OnReply(const absl::Status& status, Decision decision) override {
    Answer answer{status, std::move(decision)};
    owner_.Deliver(*this, absl::MakeSpan(&answer, 1));
  }
  void OnBatch(absl::Span<Answer> answers) override {
    owner_.Deliver(*this, answers);
  }

  struct Waiting {
    ReplyHandler* handler;  // null: answered already, at its deadline
    int64_t deadline_ns;
  };

  // One call, which needs no copy of its question.
  void AddAlone(const Waiting& call) { calls_.push_back(call); }

  void Add(const Request& request, uint32_t cost, size_t bytes,
           const Waiting& call) {
    if (questions_.size() == calls_.size()) questions_.emplace_back();
    Question& question = questions_[calls_.size()];
    question.request = request;
    question.cost = cost;
    calls_.push_back(call);
    bytes_ += bytes;
  }

  // Takes the calls out whose deadline has passed. Those that nobody waits for
  // any more leave a gap only once the batch is out.
  void TakeLate(int64_t now_ns, std::vector<ReplyHandler*>& late) {
    for (Waiting& call : calls_) {
      if (call.handler == nullptr || call.deadline_ns > now_ns) continue;
      late.push_back(std::exchange(call.handler, nullptr));
    }
  }
  void CloseGaps() {
    size_t kept = 0;
    for (size_t i = 0; i < calls_.size(); ++i) {
      if (calls_[i].handler == nullptr) continue;
      if (kept != i) {
        std::swap(questions_[kept], questions_[i]);
        calls_[kept] = calls_[i];
      }
      ++kept;
    }
    calls_.resize(kept);
  }

  // The last of the deadlines: the batch is of use until then.
  [[nodiscard]] int64_t last_deadline_ns() const {
    int64_t last_ns = 0;
    for (const Waiting& call : calls_) {
      last_ns = std::max(last_ns, call.deadline_ns);
    }
    return last_ns;
  }

  void Clear(size_t max_bytes) {
    if (bytes_ > max_bytes) questions_.clear();
    bytes_ = 0;
    calls_.clear();
  }

  [[nodiscard]] absl::Span<const Question> questions() const {
    return absl::MakeConstSpan(questions_).first(calls_.size());
  }
  [[nodiscard]] const std::vector<Waiting>& calls() const { return calls_; }
  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  Coalescer& owner_;
  std::vector<Question> questions_;  // at least as many as calls, but for one
  std::vector<Waiting> calls_;
  size_t bytes_ = 0;
};

Coalescer::Coalescer(const CoalescerOptions& options, const Clock& clock,
                     std::unique_ptr<BatchTransport> below)
    : options_(options), clock_(clock), below_(std::move(below)) {}

Coalescer::~Coalescer() { Stop(); }

void Coalescer::Send(const Request& request, uint32_t cost,
                     absl::Duration timeout, ReplyHandler& handler) {
  const Batch::Waiting call{&handler,
                            clock_.NowNs() + absl::ToInt64Nanoseconds(timeout)};
  Batch* alone = nullptr;
  bool as_it_is = false;
  bool set_wake = false;
  {
    MutexLock lock(mutex_);
    set_wake = wake_at_ns_ == kNever && !stopping_;
    if (set_wake) wake_at_ns_ = call.deadline_ns;
    // Calls mostly have the same timeout; one that is so much shorter that
    // nobody would wake for it is left to the transport.
    as_it_is = stopping_ || call.deadline_ns < wake_at_ns_;
    if (!as_it_is) {
      if (MayGoAtOnce()) {
        alone = &PutOut(NewBatch());
        alone->AddAlone(call);
      } else {
        const size_t bytes = WireBytes(request);
        BatchFor(bytes).Add(request, cost, bytes, call);
      }
    }
  }
  if (set_wake) below_->WakeIn(timeout, *this);
  if (as_it_is) below_->Send(request, cost, timeout, handler);
  if (alone != nullptr) below_->Send(request, cost, timeout, *alone);
}

void Coalescer::Stop() {
  std::deque<std::unique_ptr<Batch>> unsent;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    unsent.swap(gathering_);
  }
  for (const std::unique_ptr<Batch>& batch : unsent) {
    for (const Batch::Waiting& call : batch->calls()) {
      if (call.handler == nullptr) continue;
      call.handler->OnReply(absl::CancelledError("the client ends"), {});
    }
  }
  below_->Stop();
}

// A wake at the first deadline, and then at the first of those left: one for
// each length of the timeout.
void Coalescer::OnWake() {
  std::vector<ReplyHandler*> late;
  const int64_t now_ns = clock_.NowNs();
  int64_t next_ns = kNever;
  {
    MutexLock lock(mutex_);
    const auto visit = [&](Batch& batch) {
      batch.TakeLate(now_ns, late);
      for (const Batch::Waiting& call : batch.calls()) {
        if (call.handler != nullptr) {
          next_ns = std::min(next_ns, call.deadline_ns);
        }
      }
    };
    for (const std::unique_ptr<Batch>& batch : out_) visit(*batch);
    for (const std::unique_ptr<Batch>& batch : gathering_) visit(*batch);
    wake_at_ns_ = next_ns;
  }
  if (next_ns != kNever) {
    below_->WakeIn(absl::Nanoseconds(next_ns - now_ns), *this);
  }
  for (ReplyHandler* handler : late) handler->OnReply(Late(), {});
}

void Coalescer::Deliver(Batch& batch, absl::Span<Answer> answers) {
  std::unique_ptr<Batch> done;
  {
    MutexLock lock(mutex_);
    done = TakeBack(batch);
  }
  SendGathered();  // first, so that the service works on it meanwhile
  bool held_back = false;
  {
    MutexLock lock(mutex_);
    if (delivering_ == std::thread::id()) {
      delivering_ = std::this_thread::get_id();
      held_back = true;
    }
  }
  for (size_t i = 0; i < answers.size(); ++i) {
    ReplyHandler* const handler = done->calls()[i].handler;
    if (handler == nullptr) continue;
    handler->OnReply(answers[i].status, std::move(answers[i].decision));
  }
  {
    MutexLock lock(mutex_);
    if (held_back) delivering_ = std::thread::id();
    Keep(std::move(done));
  }
  SendGathered();
}

void Coalescer::SendGathered() {
  std::vector<ReplyHandler*> late;
  while (true) {
    Batch* batch = nullptr;
    int64_t timeout_ns = 0;
    {
      MutexLock lock(mutex_);
      if (gathering_.empty() || out_.size() >= options_.max_out) return;
      const int64_t now_ns = clock_.NowNs();
      std::unique_ptr<Batch> next = std::move(gathering_.front());
      gathering_.pop_front();
      next->TakeLate(now_ns, late);
      next->CloseGaps();
      timeout_ns = next->last_deadline_ns() - now_ns;
      if (next->calls().empty()) {
        Keep(std::move(next));
      } else {
        batch = &PutOut(std::move(next));
      }
    }
    if (batch != nullptr) SendOut(*batch, absl::Nanoseconds(timeout_ns));
    for (ReplyHandler* handler : late) handler->OnReply(Late(), {});
    late.clear();
  }
}

// Once it is sent it may be answered, and in use for other calls.
void Coalescer::SendOut(Batch& batch, absl::Duration timeout) {
  const absl::Span<const Question> questions = batch.questions();
  if (questions.size() > 1) {
    below_->SendBatch(questions, timeout, batch);
  } else {
    below_->Send(questions[0].request, questions[0].cost, timeout, batch);
  }
}

bool Coalescer::MayGoAtOnce() const {
  return gathering_.empty() && out_.size() < options_.max_out &&
         delivering_ != std::this_thread::get_id();
}

Coalescer::Batch& Coalescer::BatchFor(size_t bytes) {
  if (gathering_.empty() ||
      gathering_.back()->calls().size() >= options_.max_batch ||
      gathering_.back()->bytes() + bytes > options_.max_batch_bytes) {
    gathering_.push_back(NewBatch());
  }
  return *gathering_.back();
}

std::unique_ptr<Coalescer::Batch> Coalescer::NewBatch() {
  if (idle_.empty()) return std::make_unique<Batch>(*this);
  std::unique_ptr<Batch> batch = std::move(idle_.back());
  idle_.pop_back();
  return batch;
}

void Coalescer::Keep(std::unique_ptr<Batch> batch) {
  batch->Clear(options_.max_batch_bytes);
  if (idle_.size() < kIdleBatches) idle_.push_back(std::move(batch));
}

Coalescer::Batch& Coalescer::PutOut(std::unique_ptr<Batch> batch) {
  out_.push_back(std::move(batch));
  return *out_.back();
}

std::unique_ptr<Coalescer::Batch> Coalescer::TakeBack(Batch& batch) {
  const auto at = std::find_if(
      out_.begin(), out_.end(),
      [&](const std::unique_ptr<Batch>& out) { return out.get() == &batch; });
  std::unique_ptr<Batch> taken = std::move(*at);
  out_.erase(at);
  return taken;
}

}  // namespace tollgate::client
