#include "server/limiter/ask_store.h"

#include <cstddef>

namespace tollgate {

KeptRequest::KeptRequest(const Request& request)
    : terms_(request.terms.begin(), request.terms.end()), request_(request) {
  size_t count = 0;
  for (const Descriptor& descriptor : request.descriptors) {
    count += descriptor.size();
  }
  entries_.reserve(count);  // descriptors view it, so it must not move
  descriptors_.reserve(request.descriptors.size());
  for (const Descriptor& descriptor : request.descriptors) {
    const size_t begin = entries_.size();
    entries_.insert(entries_.end(), descriptor.begin(), descriptor.end());
    descriptors_.emplace_back(entries_.data() + begin, descriptor.size());
  }
  request_.descriptors = descriptors_;
  request_.terms = terms_;
}

}  // namespace tollgate
