#include "server/envoy/envoy_request.h"

#include <algorithm>
#include <optional>

namespace tollgate {
namespace {

using envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;

// What the descriptor asks otherwise than the rest; nothing if it does not.
std::optional<DescriptorTerms> TermsOf(const RateLimitDescriptor& descriptor) {
  if (!descriptor.has_hits_addend() && !descriptor.has_limit() &&
      !descriptor.is_negative_hits()) {
    return std::nullopt;
  }
  DescriptorTerms terms;
  if (descriptor.has_hits_addend()) {
    terms.hits = descriptor.hits_addend().value();
  }
  terms.refund = descriptor.is_negative_hits();
  if (descriptor.has_limit()) {
    terms.limit = LimitOverride{
        .requests_per_unit = descriptor.limit().requests_per_unit(),
        .unit = static_cast<LimitUnit>(descriptor.limit().unit())};
  }
  return terms;
}

}  // namespace

const Request& EnvoyRequestView::Show(const Message& message,
                                      int64_t deadline_ns) {
  size_t entries = 0;
  for (const RateLimitDescriptor& descriptor : message.descriptors()) {
    entries += static_cast<size_t>(descriptor.entries_size());
  }
  entries_.clear();
  entries_.reserve(entries);  // so that no span below moves
  descriptors_.clear();
  terms_.clear();
  places_.clear();
  for (int i = 0; i < message.descriptors_size(); ++i) {
    const RateLimitDescriptor& descriptor = message.descriptors(i);
    const std::optional<DescriptorTerms> terms = TermsOf(descriptor);
    if (descriptor.entries().empty() && !terms.has_value()) continue;
    const Entry* const first = entries_.data() + entries_.size();
    for (const RateLimitDescriptor::Entry& entry : descriptor.entries()) {
      entries_.push_back({entry.key(), entry.value()});
    }
    if (terms.has_value()) {
      terms_.resize(descriptors_.size());  // those before ask as the rest
      terms_.push_back(*terms);
    }
    descriptors_.emplace_back(first,
                              static_cast<size_t>(descriptor.entries_size()));
    places_.push_back(static_cast<size_t>(i));
  }
  if (!terms_.empty()) terms_.resize(descriptors_.size());
  request_.domain = message.domain();
  request_.descriptors = descriptors_;
  request_.terms = terms_;
  request_.cost = std::max<uint64_t>(message.hits_addend(), 1);
  request_.deadline_ns = deadline_ns;
  return request_;
}

}  // namespace tollgate
