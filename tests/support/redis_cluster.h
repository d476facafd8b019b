#ifndef TOLLGATE_TESTS_SUPPORT_REDIS_CLUSTER_H_
#define TOLLGATE_TESTS_SUPPORT_REDIS_CLUSTER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/support/redis_process.h"

namespace tollgate {

// A Redis Cluster of three primaries with a replica each, on loopback; gone
// with the handle.
class RedisCluster {
 public:
  // Of each node, and of one that joins them.
  static std::vector<std::string> Flags() {
    return {"--cluster-enabled", "yes", "--cluster-node-timeout", "3000",
            // A replica that just came up may stand for election at once.
            "--cluster-replica-validity-factor", "0",
            // One that has given its last slot away stays a primary.
            "--cluster-allow-replica-migration", "no",
            "--repl-diskless-sync-delay", "0"};
  }

  RedisCluster() {
    std::string create = "--cluster create";
    for (size_t i = 0; i < kNodes; ++i) {
      nodes_.push_back(std::make_unique<RedisProcess>(Flags()));
      absl::StrAppend(&create, " 127.0.0.1:", nodes_[i]->port());
    }
    const std::string out =
        nodes_[0]->Cli(create + " --cluster-replicas 1 --cluster-yes");
    EXPECT_TRUE(absl::StrContains(out, "All 16384 slots covered")) << out;
    for (const auto& node : nodes_) {
      EXPECT_TRUE(WaitUntil([&node] { return IsWhole(*node); }));
    }
  }

  [[nodiscard]] size_t size() const { return nodes_.size(); }
  [[nodiscard]] RedisProcess& node(size_t i) const { return *nodes_[i]; }
  // Of the first `count` nodes, which are the primaries when it starts.
  [[nodiscard]] std::string url(size_t count = 1) const {
    std::string url = "redis://";
    for (size_t i = 0; i < count; ++i) {
      absl::StrAppend(&url, i == 0 ? "" : ",", "127.0.0.1:", nodes_[i]->port());
    }
    return url;
  }

  // The node that serves a slot, as `asked` sees it.
  [[nodiscard]] RedisProcess& PrimaryOf(int slot, size_t asked = 0) const {
    const std::string nodes = nodes_[asked]->Cli("cluster nodes");
    for (absl::string_view line : absl::StrSplit(nodes, '\n')) {
      const std::vector<std::string> words = absl::StrSplit(line, ' ');
      for (size_t i = 8; i < words.size(); ++i) {
        if (!Holds(words[i], slot) || !absl::StrContains(words[2], "master") ||
            absl::StrContains(words[2], "fail")) {
          continue;
        }
        for (const auto& node : nodes_) {
          if (absl::StrContains(words[1], absl::StrCat(":", node->port(), "@")))
            return *node;
        }
      }
    }
    ADD_FAILURE() << "nobody serves slot " << slot << ":\n" << nodes;
    return *nodes_[0];
  }

 private:
  static constexpr size_t kNodes = 6;

  static bool Holds(const std::string& range, int slot) {
    const std::vector<std::string> ends = absl::StrSplit(range, '-');
    int first = 0;
    int last = 0;
    return absl::SimpleAtoi(ends.front(), &first) &&
           absl::SimpleAtoi(ends.back(), &last) && first <= slot &&
           slot <= last;
  }
  static bool IsWhole(const RedisProcess& node) {
    if (node.Field("cluster info", "cluster_state") != "ok") return false;
    return node.Field("info replication", "role") == "master"
               ? node.Field("info replication", "connected_slaves") == "1"
               : node.Field("info replication", "master_link_status") == "up";
  }

  std::vector<std::unique_ptr<RedisProcess>> nodes_;
};

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_SUPPORT_REDIS_CLUSTER_H_
