#include "client/cli/load.h"

#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "client/wire.h"
#include "server/base/periodic_thread.h"
#include "tollgate/v1/rate_limiter.grpc.pb.h"

namespace tollgate::cli {
namespace {

using Stub = v1::RateLimiter::Stub;

constexpr absl::string_view kKey = "{key}";

gpr_timespec Within(absl::Duration timeout) {
  return gpr_time_from_nanos(absl::ToInt64Nanoseconds(timeout), GPR_TIMESPAN);
}

// One connection of its own for each stub.
std::unique_ptr<Stub> Connect(const std::string& server) {
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return v1::RateLimiter::NewStub(grpc::CreateCustomChannel(
      server, grpc::InsecureChannelCredentials(), args));
}

absl::Status ToStatus(const grpc::Status& status) {
  return {static_cast<absl::StatusCode>(status.error_code()),
          status.error_message()};
}

// Replaces the keys in one request after another: the messages are made once.
class KeyWriter {
 public:
  KeyWriter(const LoadOptions& options, uint64_t seed)
      : options_(options), random_(seed) {
    for (size_t i = 0; i < options.descriptor.size(); ++i) {
      if (absl::StrContains(options.descriptor[i].value, kKey)) {
        keyed_.push_back(i);
      }
    }
  }

  void Fill(v1::ShouldAllowRequest& request) const {
    client::FillRequest({options_.domain, {options_.descriptor}, 1}, 1,
                        request);
  }

  void NextKey(v1::ShouldAllowRequest& request) {
    random_ = random_ * 6364136223846793005 + 1442695040888963407;  // Knuth
    const std::string key = absl::StrCat((random_ >> 33) % options_.keys);
    v1::Descriptor* descriptor = request.mutable_descriptors(0);
    for (const size_t i : keyed_) {
      descriptor->mutable_entries(static_cast<int>(i))
          ->set_value(
              absl::StrReplaceAll(options_.descriptor[i].value, {{kKey, key}}));
    }
  }

 private:
  const LoadOptions& options_;
  std::vector<size_t> keyed_;
  uint64_t random_;
};

// One thread with its queue, and the calls of some of the connections.
class Worker {
 public:
  Worker(const LoadOptions& options, const Clock& clock, uint64_t seed)
      : options_(options), clock_(clock), keys_(options, seed) {}

  void AddConnection(Stub& stub) {
    for (uint32_t i = 0; i < options_.in_flight; ++i) {
      auto call = std::make_unique<Call>();
      call->stub = &stub;
      if (options_.batch_size == 0) {
        keys_.Fill(call->request);
      }
      for (uint32_t n = 0; n < options_.batch_size; ++n) {
        keys_.Fill(*call->batch.add_requests());
      }
      calls_.push_back(std::move(call));
    }
  }

  void Run(int64_t until_ns) {
    for (const std::unique_ptr<Call>& call : calls_) Start(*call);
    size_t out = calls_.size();
    void* tag = nullptr;
    bool ok = false;
    while (out > 0 && queue_.Next(&tag, &ok)) {
      Call& call = *static_cast<Call*>(tag);
      const int64_t now_ns = clock_.NowNs();
      Finish(call, now_ns);
      if (now_ns < until_ns) {
        Start(call);
      } else {
        --out;
      }
    }
    queue_.Shutdown();
    while (queue_.Next(&tag, &ok)) {
    }
  }

  // Of a worker that runs.
  [[nodiscard]] uint64_t decisions() const {
    return decisions_.load(std::memory_order_relaxed);
  }
  // Of a worker that has run.
  [[nodiscard]] const LoadResult& result() const { return result_; }

 private:
  template <typename Response>
  using Reader = std::unique_ptr<grpc::ClientAsyncResponseReader<Response>>;

  struct Call {
    Stub* stub = nullptr;
    int64_t start_ns = 0;
    std::optional<grpc::ClientContext> context;
    grpc::Status status;
    v1::ShouldAllowRequest request;
    v1::ShouldAllowResponse response;
    Reader<v1::ShouldAllowResponse> reader;
    v1::ShouldAllowBatchRequest batch;
    v1::ShouldAllowBatchResponse batch_response;
    Reader<v1::ShouldAllowBatchResponse> batch_reader;
  };

  void Start(Call& call) {
    call.context.emplace();
    call.context->set_deadline(Within(options_.timeout));
    if (options_.batch_size == 0) {
      keys_.NextKey(call.request);
      call.start_ns = clock_.NowNs();
      call.reader =
          call.stub->AsyncShouldAllow(&*call.context, call.request, &queue_);
      call.reader->Finish(&call.response, &call.status, &call);
      return;
    }
    for (v1::ShouldAllowRequest& request : *call.batch.mutable_requests()) {
      keys_.NextKey(request);
    }
    call.start_ns = clock_.NowNs();
    call.batch_reader =
        call.stub->AsyncShouldAllowBatch(&*call.context, call.batch, &queue_);
    call.batch_reader->Finish(&call.batch_response, &call.status, &call);
  }

  void Finish(Call& call, int64_t now_ns) {
    ++result_.calls;
    if (!call.status.ok()) {
      CountError(ToStatus(call.status));
    } else {
      result_.latency.Add(now_ns - call.start_ns);
      if (options_.batch_size == 0) Count(call.response);
      for (const v1::BatchAnswer& answer : call.batch_response.answers()) {
        if (answer.has_decision()) {
          Count(answer.decision());
        } else {
          CountError({static_cast<absl::StatusCode>(answer.error().code()),
                      answer.error().message()});
        }
      }
    }
    decisions_.store(result_.decisions, std::memory_order_relaxed);
    call.reader.reset();
    call.batch_reader.reset();
    call.batch_response.Clear();
    call.context.reset();
  }

  void Count(const v1::ShouldAllowResponse& response) {
    ++result_.decisions;
    if (response.outcome() == v1::ALLOWED) ++result_.allowed;
    if (response.statuses().empty()) ++result_.unmatched;
  }

  void CountError(const absl::Status& status) {
    if (result_.errors++ == 0) result_.first_error = status.ToString();
  }

  const LoadOptions& options_;
  const Clock& clock_;
  KeyWriter keys_;
  grpc::CompletionQueue queue_;
  std::vector<std::unique_ptr<Call>> calls_;
  LoadResult result_;
  std::atomic<uint64_t> decisions_{0};  // read by the progress thread
};

// Opens the connection and shows that decisions are given at all.
absl::Status FirstCall(const LoadOptions& options, Stub& stub) {
  v1::ShouldAllowRequest request;
  v1::ShouldAllowResponse response;
  KeyWriter(options, 0).Fill(request);
  request.set_cost(0);
  grpc::ClientContext context;
  context.set_deadline(Within(absl::Seconds(2)));
  return ToStatus(stub.ShouldAllow(&context, request, &response));
}

// The first step of a PeriodicThread is at once, when there is nothing to say.
std::function<absl::Duration()> EachSecond(std::function<void()> action) {
  return [action = std::move(action), first = true]() mutable {
    if (!std::exchange(first, false)) action();
    return absl::Seconds(1);
  };
}

}  // namespace

void LoadResult::Add(const LoadResult& other) {
  calls += other.calls;
  decisions += other.decisions;
  allowed += other.allowed;
  unmatched += other.unmatched;
  errors += other.errors;
  if (first_error.empty()) first_error = other.first_error;
  latency.Merge(other.latency);
}

absl::StatusOr<LoadResult> RunLoad(
    const LoadOptions& options, const Clock& clock,
    const std::function<void(uint64_t decisions)>& progress) {
  std::vector<std::unique_ptr<Stub>> stubs;
  for (uint32_t i = 0; i < options.connections; ++i) {
    stubs.push_back(Connect(options.server));
    absl::Status status = FirstCall(options, *stubs.back());
    if (!status.ok()) return status;
  }
  const size_t count = std::min<size_t>(
      stubs.size(), std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::unique_ptr<Worker>> workers;
  for (size_t i = 0; i < count; ++i) {
    workers.push_back(std::make_unique<Worker>(options, clock, i + 1));
  }
  for (size_t i = 0; i < stubs.size(); ++i) {
    workers[i % count]->AddConnection(*stubs[i]);
  }

  const int64_t start_ns = clock.NowNs();
  const int64_t until_ns =
      start_ns + absl::ToInt64Nanoseconds(options.duration);
  {
    const PeriodicThread reporter(EachSecond([&] {
      uint64_t decisions = 0;
      for (const auto& worker : workers) decisions += worker->decisions();
      progress(decisions);
    }));
    std::vector<std::thread> threads;
    threads.reserve(count);
    for (const auto& worker : workers) {
      threads.emplace_back([&worker, until_ns] { worker->Run(until_ns); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  LoadResult result;
  for (const auto& worker : workers) result.Add(worker->result());
  result.elapsed = absl::Nanoseconds(clock.NowNs() - start_ns);
  return result;
}

}  // namespace tollgate::cli
