#include "client/grpc/service_limiter.h"

#include <optional>

#include "client/grpc/call_entries.h"
#include "client/grpc/refusal_status.h"

namespace tollgate::client {

grpc::Status Admission::status() const { return RefusalStatus(decision_); }

Admission ServiceLimiter::Admit(grpc::ServerContextBase& context,
                                absl::string_view method, uint32_t cost) {
  Decision decision = client_.ShouldAllow(Describe(context, method, cost));
  AddPushback(decision, context);
  return {client_, std::move(decision)};
}

void ServiceLimiter::AdmitAsync(grpc::ServerContextBase& context,
                                absl::string_view method,
                                std::function<void(Admission)> then,
                                uint32_t cost) {
  client_.ShouldAllowAsync(
      Describe(context, method, cost),
      [&client = client_, &context, then = std::move(then)](Decision decision) {
        AddPushback(decision, context);
        then({client, std::move(decision)});
      });
}

Request ServiceLimiter::Describe(const grpc::ServerContextBase& context,
                                 absl::string_view method,
                                 uint32_t cost) const {
  Descriptor descriptor;
  if (!options_.method_entry.empty()) {
    descriptor.push_back({options_.method_entry, std::string(method)});
  }
  if (!options_.peer_entry.empty()) {
    std::optional<std::string> address = PeerAddress(context.peer());
    if (address.has_value()) {
      descriptor.push_back({options_.peer_entry, *std::move(address)});
    }
  }
  for (const auto& [key, entry] : options_.metadata) {
    std::optional<std::string> value = MetadataValue(context, key);
    if (value.has_value()) descriptor.push_back({entry, *std::move(value)});
  }
  return {options_.domain, {std::move(descriptor)}, cost};
}

}  // namespace tollgate::client
