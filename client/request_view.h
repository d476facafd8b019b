#ifndef TOLLGATE_CLIENT_REQUEST_VIEW_H_
#define TOLLGATE_CLIENT_REQUEST_VIEW_H_

#include <cstddef>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "client/request.h"
#include "server/limiter/request.h"

namespace tollgate::client {

// Shows a client's request as the core's, without copying text. Valid while
// the request is. Thread-compatible.
class RequestView {
 public:
  explicit RequestView(const Request& request) {
    for (const Descriptor& descriptor : request.descriptors) {
      for (const Entry& entry : descriptor) {
        entries_.push_back({entry.key, entry.value});
      }
    }
    size_t at = 0;
    for (const Descriptor& descriptor : request.descriptors) {
      descriptors_.push_back(
          absl::MakeConstSpan(entries_).subspan(at, descriptor.size()));
      at += descriptor.size();
    }
    view_.domain = request.domain;
    view_.descriptors = descriptors_;
    view_.cost = request.cost;
  }
  RequestView(const RequestView&) = delete;
  RequestView& operator=(const RequestView&) = delete;

  [[nodiscard]] tollgate::Request& operator*() { return view_; }

 private:
  absl::InlinedVector<tollgate::Entry, 16> entries_;
  absl::InlinedVector<tollgate::Descriptor, 4> descriptors_;
  tollgate::Request view_;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_REQUEST_VIEW_H_
