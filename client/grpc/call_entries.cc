#include "client/grpc/call_entries.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace tollgate::client {
namespace {

constexpr size_t kMaxValueBytes = 4096;

}  // namespace

std::optional<std::string> PeerAddress(absl::string_view peer) {
  if (absl::ConsumePrefix(&peer, "ipv4:")) {
    return std::string(peer.substr(0, peer.rfind(':')));
  }
  if (!absl::ConsumePrefix(&peer, "ipv6:")) return std::nullopt;
  const std::string plain = absl::StrReplaceAll(
      peer, {{"%5B", "["}, {"%5b", "["}, {"%5D", "]"}, {"%5d", "]"}});
  absl::string_view address = plain;
  if (!absl::ConsumePrefix(&address, "[")) return std::nullopt;
  const size_t end = address.find(']');
  if (end == absl::string_view::npos) return std::nullopt;
  address = address.substr(0, end);
  return std::string(address.substr(0, address.find('%')));
}

std::optional<std::string> MetadataValue(const grpc::ServerContextBase& context,
                                         const std::string& key) {
  const auto& metadata = context.client_metadata();
  const auto at = metadata.find(key);
  if (at == metadata.end()) return std::nullopt;
  std::string value;
  for (const char byte : at->second) {
    if (absl::ascii_isprint(static_cast<unsigned char>(byte)) && byte != '%') {
      value += byte;
    } else {
      absl::StrAppend(&value, "%",
                      absl::BytesToHexString(absl::string_view(&byte, 1)));
    }
    if (value.size() >= kMaxValueBytes) break;
  }
  value.resize(std::min(value.size(), kMaxValueBytes));
  return value;
}

}  // namespace tollgate::client
