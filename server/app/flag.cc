#include "server/app/flag.h"

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace tollgate {

absl::Status SetDuration(const std::string& value, absl::Duration min,
                         absl::Duration max, absl::string_view wanted,
                         absl::Duration& out) {
  absl::Duration duration;
  if (!absl::ParseDuration(value, &duration) || duration < min ||
      duration > max) {
    return BadFlag(value, wanted);
  }
  out = duration;
  return absl::OkStatus();
}

absl::Status SetAddress(const std::string& value, std::string& out) {
  constexpr char kWanted[] = "HOST:PORT, such as 127.0.0.1:8081 or [::]:8081";
  const size_t colon = value.rfind(':');
  if (colon == std::string::npos || colon == 0) return BadFlag(value, kWanted);
  const std::string host = value.substr(0, colon);
  const bool bracketed = host.front() == '[' && host.back() == ']';
  const std::string port = value.substr(colon + 1);
  int number = -1;
  if ((host.find(':') != std::string::npos && !bracketed) || port.empty() ||
      !std::isdigit(static_cast<unsigned char>(port.front())) ||
      !absl::SimpleAtoi(port, &number) ||
      number > std::numeric_limits<uint16_t>::max()) {
    return BadFlag(value, kWanted);
  }
  out = value;
  return absl::OkStatus();
}

absl::Status SetBool(const std::string& value, bool& out) {
  if (value != "true" && value != "false")
    return BadFlag(value, "true or false");
  out = value == "true";
  return absl::OkStatus();
}

}  // namespace tollgate
