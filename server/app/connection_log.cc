#include "server/app/connection_log.h"

#include <utility>

#include "spdlog/spdlog.h"

namespace tollgate {
namespace {

constexpr int64_t kPauseNs = 10'000'000'000;

ConnectionRefusal ToMetric(net::RefuseReason reason) {
  switch (reason) {
    case net::RefuseReason::kTotal:
      return ConnectionRefusal::kTotal;
    case net::RefuseReason::kAddress:
      return ConnectionRefusal::kAddress;
    case net::RefuseReason::kFlood:
      return ConnectionRefusal::kFlood;
    case net::RefuseReason::kDescriptors:
      break;
  }
  return ConnectionRefusal::kDescriptors;
}

const char* TextOf(net::RefuseReason reason) {
  switch (reason) {
    case net::RefuseReason::kTotal:
      return "there are as many as --max-connections and the descriptors allow";
    case net::RefuseReason::kAddress:
      return "its address has as many as --max-connections-per-address allows";
    case net::RefuseReason::kFlood:
      return "another one of its address was cut as a flood just now";
    case net::RefuseReason::kDescriptors:
      break;
  }
  return "the process has no descriptors left";
}

}  // namespace

bool ConnectionLog::IsDue(Pace& pace) {
  const int64_t now_ns = clock_.NowNs();
  if (now_ns < pace.next_ns) {
    ++pace.unsaid;
    return false;
  }
  pace.next_ns = now_ns + kPauseNs;
  return true;
}

void ConnectionLog::OnRefused(net::RefuseReason reason) {
  metrics_.CountConnectionRefused(ToMetric(reason));
  if (!IsDue(refused_)) return;
  spdlog::warn("refused a connection: {} ({} more since the last such line)",
               TextOf(reason), std::exchange(refused_.unsaid, 0));
}

void ConnectionLog::OnKilled(net::KillReason reason, const std::string& peer) {
  const bool flood = reason == net::KillReason::kFlood;
  metrics_.CountConnectionKilled(flood ? ConnectionKill::kFlood
                                       : ConnectionKill::kSlowReader);
  if (!IsDue(killed_)) return;
  spdlog::warn("cut a connection of {}: {} ({} more since the last such line)",
               peer,
               flood ? "it sent more than --flood-bytes that no call accounts "
                       "for"
                     : "it did not take what was sent to it within "
                       "--slow-reader-timeout",
               std::exchange(killed_.unsaid, 0));
}

}  // namespace tollgate
