#include "client/check_request.h"

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "server/limiter/request.h"

namespace tollgate::client {

absl::Status CheckRequest(const Request& request) {
  absl::InlinedVector<tollgate::Entry, 16> entries;
  for (const Descriptor& descriptor : request.descriptors) {
    for (const Entry& entry : descriptor) {
      entries.push_back({entry.key, entry.value});
    }
  }
  absl::InlinedVector<tollgate::Descriptor, 4> descriptors;
  size_t at = 0;
  for (const Descriptor& descriptor : request.descriptors) {
    descriptors.push_back(
        absl::MakeConstSpan(entries).subspan(at, descriptor.size()));
    at += descriptor.size();
  }
  tollgate::Request checked;
  checked.domain = request.domain;
  checked.descriptors = descriptors;
  checked.cost = request.cost;
  return ValidateRequest(checked);
}

}  // namespace tollgate::client
