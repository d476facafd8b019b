#include "client/cli/client_load.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/client.h"
#include "server/base/mutex.h"

namespace tollgate::cli {
namespace {

constexpr char kKey[] = "{key}";
constexpr size_t kKeySize = sizeof(kKey) - 1;

// One request whose key changes: its text keeps its memory.
class KeyedRequest {
 public:
  KeyedRequest(const ClientLoadOptions& options, uint64_t seed)
      : keys_(options.keys), random_(seed) {
    request_.domain = options.domain;
    request_.descriptors = {options.descriptor};
    for (size_t i = 0; i < options.descriptor.size(); ++i) {
      const std::string& value = options.descriptor[i].value;
      const size_t at = value.find(kKey);
      if (at == std::string::npos) continue;
      keyed_.push_back({i, value.substr(0, at), value.substr(at + kKeySize)});
    }
  }

  const client::Request& Next() {
    random_ = random_ * 6364136223846793005 + 1442695040888963407;  // Knuth
    const uint64_t key = (random_ >> 33) % keys_;
    for (const Keyed& keyed : keyed_) {
      std::string& value = request_.descriptors[0][keyed.entry].value;
      value = keyed.before;
      absl::StrAppend(&value, key, keyed.after);
    }
    return request_;
  }

 private:
  struct Keyed {
    size_t entry;
    std::string before;
    std::string after;
  };

  const uint64_t keys_;
  uint64_t random_;
  client::Request request_;
  std::vector<Keyed> keyed_;
};

void Count(const client::Decision& decision, int64_t took_ns,
           LoadResult& result) {
  ++result.calls;
  if (decision.source != client::Source::kService &&
      decision.source != client::Source::kRefusalCache) {
    if (result.errors++ == 0) result.first_error = decision.error.ToString();
    return;
  }
  ++result.decisions;
  result.latency.Add(took_ns);
  if (decision.allowed) ++result.allowed;
  if (decision.statuses.empty() &&
      decision.source == client::Source::kService) {
    ++result.unmatched;
  }
}

void AskAndWait(const ClientLoadOptions& options, client::Client& client,
                const Clock& clock, int64_t until_ns, uint64_t seed,
                LoadResult& result) {
  KeyedRequest request(options, seed);
  int64_t now_ns = clock.NowNs();
  while (now_ns < until_ns) {
    const client::Request& next = request.Next();
    const int64_t start_ns = std::exchange(now_ns, clock.NowNs());
    const client::Decision decision = client.ShouldAllow(next);
    now_ns = clock.NowNs();
    Count(decision, now_ns - start_ns, result);
  }
}

// Many calls of one caller, each followed by the next when it is answered: all
// but the first are made on the client's own thread.
class Callbacks {
 public:
  Callbacks(const ClientLoadOptions& options, client::Client& client,
            const Clock& clock, int64_t until_ns, LoadResult& result)
      : client_(client),
        clock_(clock),
        until_ns_(until_ns),
        request_(options, 1),
        result_(result),
        out_(options.in_flight) {}

  void Run(uint32_t in_flight) {
    for (uint32_t i = 0; i < in_flight; ++i) Ask();
    MutexLock lock(mutex_);
    while (out_ > 0) done_.wait(mutex_);
  }

 private:
  void Ask() {
    client::Request request;
    {
      MutexLock lock(mutex_);
      request = request_.Next();
    }
    const int64_t start_ns = clock_.NowNs();
    client_.ShouldAllowAsync(
        request, [this, start_ns](const client::Decision& decision) {
          OnAnswer(decision, start_ns);
        });
  }

  void OnAnswer(const client::Decision& decision, int64_t start_ns) {
    const int64_t now_ns = clock_.NowNs();
    {
      MutexLock lock(mutex_);
      Count(decision, now_ns - start_ns, result_);
      if (now_ns >= until_ns_) {
        if (--out_ == 0) done_.notify_one();
        return;
      }
    }
    Ask();
  }

  client::Client& client_;
  const Clock& clock_;
  const int64_t until_ns_;

  Mutex mutex_;
  std::condition_variable_any done_;
  KeyedRequest request_ ABSL_GUARDED_BY(mutex_);
  LoadResult& result_ ABSL_GUARDED_BY(mutex_);
  uint32_t out_ ABSL_GUARDED_BY(mutex_);
};

client::ClientOptions ToClientOptions(const ClientLoadOptions& options) {
  client::ClientOptions to;
  to.watch_policy = false;
  to.target = options.server;
  to.timeout = absl::Seconds(1);
  to.max_in_flight =
      std::max({options.callers, options.in_flight, to.max_in_flight});
  to.refusal_cache_ttl = absl::ZeroDuration();  // each call asks
  to.max_batch = options.max_batch;
  return to;
}

// Opens the connection and shows that decisions are given at all.
absl::Status FirstCall(const ClientLoadOptions& options,
                       client::Client& client) {
  client::Request request = KeyedRequest(options, 0).Next();
  request.cost = 0;
  return client.ShouldAllow(request).error;
}

}  // namespace

absl::StatusOr<LoadResult> RunClientLoad(const ClientLoadOptions& options,
                                         const Clock& clock) {
  auto client = client::Client::Create(ToClientOptions(options));
  if (!client.ok()) return client.status();
  absl::Status first = FirstCall(options, **client);
  if (!first.ok()) return first;

  const int64_t start_ns = clock.NowNs();
  const int64_t until_ns =
      start_ns + absl::ToInt64Nanoseconds(options.duration);
  std::vector<LoadResult> results(std::max(1U, options.callers));
  if (options.callers == 0) {
    Callbacks(options, **client, clock, until_ns, results[0])
        .Run(options.in_flight);
  }
  std::vector<std::thread> threads;
  threads.reserve(options.callers);
  for (uint32_t i = 0; i < options.callers; ++i) {
    threads.emplace_back([&, i] {
      AskAndWait(options, **client, clock, until_ns, i + 1, results[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  LoadResult sum;
  for (const LoadResult& one : results) sum.Add(one);
  sum.elapsed = absl::Nanoseconds(clock.NowNs() - start_ns);
  return sum;
}

}  // namespace tollgate::cli
