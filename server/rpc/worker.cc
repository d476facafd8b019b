#include "server/rpc/worker.h"

#include <utility>

#include "server/rpc/rpc_server.h"

namespace tollgate {

Worker::Worker(const WorkerShared& shared,
               std::unique_ptr<grpc::ServerCompletionQueue> queue,
               Handlers handlers, net::PeerLedger::Page& peers)
    : steady_clock_(shared.steady_clock),
      queue_(std::move(queue)),
      handlers_(std::move(handlers)),
      mark_(*queue_, shared.max_queue_wait, shared.steady_clock),
      pools_(CallContext{shared.services, *queue_, mark_, shared.admission,
                         shared.admin_admission, handlers_, peers,
                         shared.access}),
      health_(shared.services.health_calls, *queue_, shared.services.health,
              peers),
      policies_(shared.services.rate_limiter, *queue_, shared.services.health,
                shared.feed, peers, shared.access),
      announce_(*this),
      quit_(*this) {}

void Worker::Announce(Unread unread) {
  MutexLock lock(announce_mutex_);
  if (unread == Unread::kDrop) drop_unread_ = true;
  if (std::exchange(announcing_, true)) return;
  announce_now_.Set(queue_.get(), gpr_inf_past(GPR_CLOCK_MONOTONIC),
                    &announce_);
}

void Worker::Stop() {
  // The thread itself shuts its queue: posting to one that is shut aborts.
  grpc::Alarm now;
  now.Set(queue_.get(), gpr_inf_past(GPR_CLOCK_MONOTONIC), &quit_);
  thread_.join();
}

void Worker::Announcement::On(bool) {
  bool drop_unread = false;
  {
    MutexLock lock(worker_.announce_mutex_);
    worker_.announcing_ = false;  // before looking at what is announced
    drop_unread = std::exchange(worker_.drop_unread_, false);
  }
  if (drop_unread) {
    worker_.pools_.DropUnread(worker_.steady_clock_.NowNs() -
                              absl::ToInt64Nanoseconds(kUnreadPatience));
  }
  worker_.health_.Announce();
  worker_.policies_.Announce();
}

void Worker::Quit::On(bool) {
  worker_.health_.Stop();
  worker_.policies_.Stop();
  worker_.pools_.Stop();
  worker_.mark_.Stop();
  worker_.quitting_ = true;
}

void Worker::Run() {
  pools_.PostAll();
  health_.Post();
  policies_.Post();
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) {
    static_cast<Event*>(tag)->On(ok);
    // The server does not wait for calls that it has cut off, and to answer
    // one on a queue that is shut aborts.
    if (quitting_ && pools_.answering() == 0) {
      quitting_ = false;
      queue_->Shutdown();
    }
  }
}

}  // namespace tollgate
