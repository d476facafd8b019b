// A real server while the Redis Cluster behind it changes under its traffic.
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/integration/replica.h"
#include "tests/support/redis_cluster.h"
#include "tests/support/redis_process.h"

namespace tollgate {
namespace {

constexpr char kRules[] =
    "domain: shop\n"
    "rules:\n"
    "  - {name: wide, key: [user], limit: 40000/day, on_outage: refuse}\n"
    "  - {name: narrow, key: [page], limit: 20000/day, on_outage: refuse}\n"
    "  - {name: any, key: [login], limit: 100000/day, on_outage: refuse}\n";
constexpr uint64_t kWide = 40'000;
constexpr uint64_t kNarrow = 20'000;

// What both rules with two nodes' buckets apply to.
Replica::Entries Both(const std::string& name) {
  return {{"user", name}, {"page", name}};
}

std::string BucketOf(const std::string& rule, const std::string& name) {
  return absl::StrCat("tollgate:{shop|", rule, "|", name, "}:token_bucket");
}

int64_t Number(const std::string& text) {
  int64_t number = -1;
  EXPECT_TRUE(absl::SimpleAtoi(text, &number)) << text;
  return number;
}

// Takes one token of both rules again and again, from 4 threads.
class Traffic {
 public:
  Traffic(Replica& replica, const std::string& name)
      : replica_(replica), name_(name) {
    for (std::thread& thread : threads_) {
      thread = std::thread([this] {
        while (!stop_) Ask(1);
      });
    }
  }
  ~Traffic() { Stop(); }
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  // Tokens that were let through.
  [[nodiscard]] uint64_t admitted() const { return admitted_; }
  [[nodiscard]] uint64_t outages() const { return outages_; }
  // Waits for that many more answers.
  [[nodiscard]] bool GoesOn(uint64_t count) const {
    const uint64_t before = answers_;
    return WaitUntil([&] { return answers_ >= before + count; });
  }
  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }
  // Stops, and takes what is left.
  void Drain() {
    Stop();
    for (const uint32_t cost : {500U, 20U, 1U}) {
      EXPECT_TRUE(WaitUntil([&] {
        while (Ask(cost)) {
        }
        return replica_.StoreDecides(Both(name_));
      }));
    }
  }

 private:
  bool Ask(uint32_t cost) {
    const client::Decision decision = replica_.Decide(Both(name_), cost);
    admitted_ += decision.allowed ? cost : 0;
    outages_ += Replica::IsOutage(decision) ? 1 : 0;
    ++answers_;
    return decision.allowed;
  }

  Replica& replica_;
  const std::string name_;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> admitted_{0};
  std::atomic<uint64_t> outages_{0};
  std::atomic<uint64_t> answers_{0};
  std::array<std::thread, 4> threads_;
};

// A cluster, and a server that was told of a node that is gone and of one more.
class ServerOnACluster : public testing::Test {
 protected:
  ServerOnACluster() {
    RedisProcess gone;
    gone.Kill();
    replica_ = std::make_unique<Replica>(
        kRules,
        std::vector<std::string>{
            absl::StrCat("--store=", gone.url(), ",127.0.0.1:", seed().port()),
            "--store-timeout=2s"});
  }

  RedisProcess& seed() { return cluster_.node(cluster_.size() - 1); }
  int SlotOf(const std::string& rule, const std::string& name) {
    return static_cast<int>(Number(cluster_.node(0).Cli(
        absl::StrCat("cluster keyslot '", BucketOf(rule, name), "'"))));
  }
  RedisProcess& NodeOf(const std::string& rule, const std::string& name) {
    return cluster_.PrimaryOf(SlotOf(rule, name));
  }
  // A name whose two buckets are on two nodes.
  std::string NameOnTwoNodes(const std::string& start) {
    for (int i = 0; i < 100; ++i) {
      std::string name = absl::StrCat(start, i);
      if (&NodeOf("wide", name) != &NodeOf("narrow", name)) return name;
    }
    ADD_FAILURE() << "all on one node";
    return start;
  }
  RedisProcess& ReplicaOf(const RedisProcess& primary) {
    const std::string nodes = primary.Cli("cluster nodes");
    const std::string of = absl::StrCat(" ", primary.Cli("cluster myid"), " ");
    for (absl::string_view line : absl::StrSplit(nodes, '\n')) {
      for (size_t i = 0; i < cluster_.size(); ++i) {
        if (absl::StrContains(line, of) && absl::StrContains(line, "slave") &&
            absl::StrContains(
                line, absl::StrCat(":", cluster_.node(i).port(), "@"))) {
          return cluster_.node(i);
        }
      }
    }
    ADD_FAILURE() << "no replica:\n" << nodes;
    return cluster_.node(0);
  }
  static void MoveSlot(int slot, RedisProcess& from, RedisProcess& to) {
    const std::string setslot = absl::StrCat("cluster setslot ", slot);
    const std::string to_id = to.Cli("cluster myid");
    EXPECT_EQ(
        to.Cli(absl::StrCat(setslot, " importing ", from.Cli("cluster myid"))),
        "OK");
    EXPECT_EQ(from.Cli(absl::StrCat(setslot, " migrating ", to_id)), "OK");
    const std::string keys =
        from.Cli(absl::StrCat("cluster getkeysinslot ", slot, " 100"));
    for (absl::string_view key : absl::StrSplit(keys, '\n')) {
      EXPECT_EQ(from.Cli(absl::StrCat("migrate 127.0.0.1 ", to.port(), " '",
                                      key, "' 0 5000")),
                "OK");
    }
    for (RedisProcess* const node : {&to, &from}) {
      EXPECT_EQ(node->Cli(absl::StrCat(setslot, " node ", to_id)), "OK");
    }
  }
  // Connections that are not of the cluster or of redis-cli.
  static int64_t Connections(const RedisProcess& node) {
    const std::string list = node.Cli("client list type normal");
    return static_cast<int64_t>(
               std::vector<std::string>(absl::StrSplit(list, '\n')).size()) -
           1;
  }

  void FindsTheOthers();
  void FollowsASlotToANewNodeAndBack();
  void FollowsAFailover();
  void ComesBackAfterAPrimaryIsKilled();

  RedisCluster cluster_;
  RedisProcess added_{RedisCluster::Flags()};
  RedisProcess* retired_ = nullptr;  // a primary that became a replica
  std::unique_ptr<Replica> replica_;
};

void ServerOnACluster::FindsTheOthers() {
  for (int i = 0; i < 20; ++i) {
    const Replica::Entries entries = {{"login", absl::StrCat(i)}};
    EXPECT_TRUE(WaitUntil([&] { return replica_->StoreDecides(entries); }));
  }
  EXPECT_TRUE(replica_->is_ready());
}

void ServerOnACluster::FollowsASlotToANewNodeAndBack() {
  const std::string joined = cluster_.node(0).Cli(
      absl::StrCat("--cluster add-node 127.0.0.1:", added_.port(),
                   " 127.0.0.1:", cluster_.node(0).port()));
  ASSERT_TRUE(absl::StrContains(joined, "New node added correctly")) << joined;
  ASSERT_TRUE(WaitUntil([&] {
    for (size_t i = 0; i < cluster_.size(); ++i) {
      if (cluster_.node(i).Field("cluster info", "cluster_known_nodes") != "7")
        return false;
    }
    return added_.Field("cluster info", "cluster_state") == "ok";
  }));
  const std::string name = NameOnTwoNodes("moves");
  const int slot = SlotOf("wide", name);
  RedisProcess& home = NodeOf("wide", name);
  Traffic traffic(*replica_, name);
  ASSERT_TRUE(traffic.GoesOn(100));
  MoveSlot(slot, home, added_);
  ASSERT_TRUE(traffic.GoesOn(100));
  EXPECT_GT(Connections(added_), 0);
  MoveSlot(slot, added_, home);
  ASSERT_TRUE(traffic.GoesOn(100));
  traffic.Drain();
  EXPECT_EQ(traffic.outages(), 0U);
  EXPECT_EQ(traffic.admitted(), kNarrow);
  // All or nothing: what "narrow" refused, "wide" has back.
  EXPECT_TRUE(WaitUntil([&] {
    return replica_->Left("wide", Both(name)) == kWide - kNarrow;
  })) << replica_->Left("wide", Both(name));
}

void ServerOnACluster::FollowsAFailover() {
  const std::string name = NameOnTwoNodes("fails-over");
  retired_ = &NodeOf("narrow", name);
  RedisProcess& next = ReplicaOf(*retired_);
  Traffic traffic(*replica_, name);
  ASSERT_TRUE(traffic.GoesOn(100));
  EXPECT_EQ(next.Cli("cluster failover"), "OK");
  EXPECT_TRUE(WaitUntil(
      [&] { return next.Field("info replication", "role") == "master"; }));
  ASSERT_TRUE(traffic.GoesOn(100));
  traffic.Drain();
  // A run that was under way may have taken tokens for nobody.
  EXPECT_GT(traffic.admitted(), 0U);
  EXPECT_LE(traffic.admitted(), kNarrow);
}

void ServerOnACluster::ComesBackAfterAPrimaryIsKilled() {
  const std::string name = NameOnTwoNodes("dies");
  RedisProcess& primary = NodeOf("narrow", name);
  const RedisProcess& next = ReplicaOf(primary);
  Traffic traffic(*replica_, name);
  ASSERT_TRUE(traffic.GoesOn(100));
  const uint64_t replicated = traffic.admitted();
  const int64_t offset =
      Number(primary.Field("info replication", "master_repl_offset"));
  ASSERT_TRUE(WaitUntil([&] {
    return Number(next.Field("info replication", "slave_repl_offset")) >=
           offset;
  }));
  primary.Kill();
  const uint64_t lost_at_most = traffic.admitted() - replicated;
  EXPECT_TRUE(WaitUntil([&] { return replica_->StoreDecides(Both(name)); }));
  traffic.Drain();
  EXPECT_LE(traffic.admitted(), kNarrow + lost_at_most);
  EXPECT_GT(traffic.admitted(), replicated);
}

TEST_F(ServerOnACluster, KeepsToTheLimitsWhateverBecomesOfItsNodes) {
  FindsTheOthers();
  FollowsASlotToANewNodeAndBack();
  if (HasFatalFailure()) return;
  FollowsAFailover();
  if (HasFatalFailure()) return;
  ComesBackAfterAPrimaryIsKilled();
  if (HasFatalFailure()) return;
  // Nodes that serve no slot any more are left alone.
  EXPECT_TRUE(WaitUntil([&] { return Connections(added_) == 0; }));
  EXPECT_TRUE(WaitUntil(
      [&] { return retired_ == &seed() || Connections(*retired_) == 0; }));
}

}  // namespace
}  // namespace tollgate
