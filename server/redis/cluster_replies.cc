#include "server/redis/cluster_replies.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "server/redis/key_slot.h"

namespace tollgate::redis {
namespace {

constexpr size_t kMaxHostBytes = 255;

// Nothing if a node does not know its own address ("?") or this is none.
std::optional<Endpoint> MakeEndpoint(absl::string_view host, int64_t port,
                                     absl::string_view asked) {
  if (host.empty()) host = asked;
  if (host.empty() || host == "?" || host.size() > kMaxHostBytes || port < 1 ||
      port > std::numeric_limits<uint16_t>::max()) {
    return std::nullopt;
  }
  return Endpoint{std::string(host), static_cast<int>(port)};
}

bool IsSlot(const Reply& reply) {
  return reply.kind == Reply::Kind::kInteger && reply.integer >= 0 &&
         reply.integer < kSlots;
}

}  // namespace

std::optional<Redirect> ParseRedirect(absl::string_view message,
                                      absl::string_view asked) {
  const std::vector<absl::string_view> words = absl::StrSplit(message, ' ');
  if (words.size() != 3 || (words[0] != "MOVED" && words[0] != "ASK")) {
    return std::nullopt;
  }
  Redirect redirect;
  redirect.ask = words[0] == "ASK";
  const size_t colon = words[2].rfind(':');  // an IPv6 address has more of them
  int port = 0;
  if (colon == absl::string_view::npos ||
      !absl::SimpleAtoi(words[1], &redirect.slot) || redirect.slot < 0 ||
      redirect.slot >= kSlots ||
      !absl::SimpleAtoi(words[2].substr(colon + 1), &port)) {
    return std::nullopt;
  }
  std::optional<Endpoint> to =
      MakeEndpoint(words[2].substr(0, colon), port, asked);
  if (!to.has_value()) return std::nullopt;
  redirect.to = *std::move(to);
  return redirect;
}

absl::StatusOr<std::vector<SlotRange>> ParseSlots(const Reply& reply,
                                                  absl::string_view asked) {
  const absl::Status bad =
      absl::InvalidArgumentError("CLUSTER SLOTS: not the reply of a cluster");
  if (reply.kind != Reply::Kind::kArray || reply.elements.size() > kMaxRanges) {
    return bad;
  }
  std::vector<SlotRange> ranges;
  for (const Reply& row : reply.elements) {
    if (row.elements.size() < 3 || !IsSlot(row.elements[0]) ||
        !IsSlot(row.elements[1]) ||
        row.elements[0].integer > row.elements[1].integer) {
      return bad;
    }
    const std::vector<Reply>& node = row.elements[2].elements;
    // A host that is not known is nil or empty.
    if (node.size() < 2 || node[0].kind == Reply::Kind::kInteger ||
        node[0].kind == Reply::Kind::kArray ||
        node[1].kind != Reply::Kind::kInteger) {
      return bad;
    }
    std::optional<Endpoint> primary =
        MakeEndpoint(node[0].text, node[1].integer, asked);
    if (!primary.has_value()) continue;
    ranges.push_back({static_cast<int>(row.elements[0].integer),
                      static_cast<int>(row.elements[1].integer),
                      *std::move(primary)});
  }
  return ranges;
}

}  // namespace tollgate::redis
