#include "server/envoy/envoy_handler.h"

#include "absl/strings/str_cat.h"

namespace tollgate {

// The first two texts are those that operators know.
absl::Status EnvoyHandler::Validate(const Message& message,
                                    const Request& request) {
  if (message.domain().empty()) {
    return absl::InvalidArgumentError("rate limit domain must not be empty");
  }
  if (message.descriptors().empty()) {
    return absl::InvalidArgumentError(
        "rate limit descriptor list must not be empty");
  }
  if (request.descriptors.empty()) {
    // None has entries: nothing is asked but the domain.
    const Entry any{"-", ""};
    const Descriptor descriptor(&any, 1);
    return ValidateRequest(
        {.domain = request.domain, .descriptors = {&descriptor, 1}});
  }
  return ValidateRequest(request);
}

absl::Status EnvoyHandler::Answer(const Decision& decision,
                                  const Message& request,
                                  const std::vector<size_t>& places,
                                  Response& response) const {
  // Only where no rule names the domain is it worth a look.
  if (decision.domain == nullptr && limiter_.rules()->size() == 0) {
    return absl::UnavailableError("no rate limit configuration loaded");
  }
  switch (decision.outcome) {
    case Outcome::kExpired:
      return absl::DeadlineExceededError(
          "the deadline had passed before the request was decided");
    case Outcome::kOverridden:
      return absl::ResourceExhaustedError(
          "gateways brought too many different limits along");
    default:
      ToEnvoy(decision, request, places, options_, response);
      return absl::OkStatus();
  }
}

}  // namespace tollgate
