#ifndef TOLLGATE_SERVER_LIMITER_ASK_STORE_H_
#define TOLLGATE_SERVER_LIMITER_ASK_STORE_H_

#include <memory>
#include <utility>
#include <vector>

#include "server/limiter/bucket_store.h"
#include "server/limiter/request.h"

namespace tollgate {

// A copy of a request's arrays, for a store that answers when its caller's own
// are in use again. The text that they view is not copied.
class KeptRequest {
 public:
  explicit KeptRequest(const Request& request);
  KeptRequest(const KeptRequest&) = delete;
  KeptRequest& operator=(const KeptRequest&) = delete;

  [[nodiscard]] const Request& request() const { return request_; }

 private:
  std::vector<Entry> entries_;
  std::vector<Descriptor> descriptors_;
  std::vector<DescriptorTerms> terms_;
  Request request_;
};

// Begins a call of `store` about `request` with `start(request, done)`, and
// hands what `done` is told to `answer`. The request's arrays and `answer` are
// kept for as long as that takes: where they lie, and without an allocation, if
// the store is immediate. The text that the request views must outlive the
// call.
template <typename Start, typename Answer>
void AskStore(const BucketStore& store, const Request& request, Start start,
              Answer answer) {
  if (store.is_immediate()) {
    start(request, [&answer](const auto& told) { answer(told); });
    return;
  }
  struct Kept {
    Kept(const Request& asked, Answer to)
        : request(asked), answer(std::move(to)) {}
    KeptRequest request;
    Answer answer;
  };
  auto kept = std::make_unique<Kept>(request, std::move(answer));
  const Request& shown = kept->request.request();
  start(shown,
        [kept = std::move(kept)](const auto& told) { kept->answer(told); });
}

// The same for the call that most calls are.
template <typename Answer>
void AskToDecide(BucketStore& store, const Request& request, Answer answer) {
  AskStore(
      store, request,
      [&store](const Request& asked, auto done) {
        store.Decide(asked, std::move(done));
      },
      std::move(answer));
}

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_ASK_STORE_H_
