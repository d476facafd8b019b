#include "server/envoy/dynamic_metadata.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/json_util.h"

namespace tollgate {
namespace {

using envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;
using google::protobuf::Struct;
using google::protobuf::Value;

Struct ToStruct(const RateLimitDescriptor& descriptor) {
  Struct out;
  auto& fields = *out.mutable_fields();
  auto& entries = *fields["entries"].mutable_list_value();
  for (const RateLimitDescriptor::Entry& entry : descriptor.entries()) {
    entries.add_values()->set_string_value(
        absl::StrCat(entry.key(), "=", entry.value()));
  }
  if (descriptor.has_limit()) {
    fields["limit"].set_string_value(descriptor.limit().ShortDebugString());
  }
  if (descriptor.has_hits_addend()) {
    fields["hitsAddend"].set_number_value(
        static_cast<double>(descriptor.hits_addend().value()));
  }
  return out;
}

// Both are of rule files, whose depth the loader bounds.
void Merge(Struct& from, Struct& into) {  // NOLINT(misc-no-recursion)
  for (auto& [key, value] : *from.mutable_fields()) {
    const auto found = into.mutable_fields()->find(key);
    if (found == into.fields().end()) {
      (*into.mutable_fields())[key] = std::move(value);
    } else if (value.has_struct_value() && found->second.has_struct_value()) {
      Merge(*value.mutable_struct_value(),
            *found->second.mutable_struct_value());
    }
  }
}

}  // namespace

void AddDynamicMetadata(
    const envoy::service::ratelimit::v3::RateLimitRequest& request,
    const Decision& decision, Struct& out) {
  auto& fields = *out.mutable_fields();
  fields["domain"].set_string_value(request.domain());
  auto& descriptors = *fields["descriptors"].mutable_list_value();
  for (const RateLimitDescriptor& descriptor : request.descriptors()) {
    *descriptors.add_values()->mutable_struct_value() = ToStruct(descriptor);
  }
  if (request.hits_addend() != 0) {
    fields["hitsAddend"].set_number_value(request.hits_addend());
  }
  Struct metadata;
  for (const RuleStatus& status : decision.statuses) {
    const bool refuses = status.outcome != Outcome::kAllowed && !status.shadow;
    if (status.node == nullptr || status.node->metadata.empty() || refuses) {
      continue;
    }
    Struct own;
    if (google::protobuf::util::JsonStringToMessage(status.node->metadata, &own)
            .ok()) {
      Merge(own, metadata);
    }
  }
  if (!metadata.fields().empty()) {
    *fields["metadata"].mutable_struct_value() = std::move(metadata);
  }
}

}  // namespace tollgate
