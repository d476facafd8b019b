#include <string>

#include "gtest/gtest.h"
#include "server/metrics/metrics.h"
#include "tests/metrics/metric_text.h"

namespace tollgate {
namespace {

TEST(Metrics, CountsConnectionsAndWhyTheyEnded) {
  Counted counted;
  const std::string refused = "tollgate_connections_refused_total{reason=\"";
  const std::string killed = "tollgate_connections_killed_total{reason=\"";
  EXPECT_EQ(counted.Value(killed + "flood\"}"), 0);
  counted.metrics->CountConnections(+1);
  counted.metrics->CountConnections(+1);
  counted.metrics->CountConnections(-1);
  counted.metrics->CountConnectionRefused(ConnectionRefusal::kAddress);
  counted.metrics->CountConnectionKilled(ConnectionKill::kSlowReader);
  EXPECT_EQ(counted.Value("tollgate_connections"), 1);
  EXPECT_EQ(counted.Value(refused + "total\"}"), 0);
  EXPECT_EQ(counted.Value(refused + "address\"}"), 1);
  EXPECT_EQ(counted.Value(refused + "descriptors\"}"), 0);
  EXPECT_EQ(counted.Value(refused + "flood\"}"), 0);
  EXPECT_EQ(counted.Value(killed + "flood\"}"), 0);
  EXPECT_EQ(counted.Value(killed + "slow_reader\"}"), 1);
}

TEST(Metrics, AddsUpConnectionsWhateverTheReason) {
  Counted counted;
  counted.metrics->CountConnections(+3);
  for (const ConnectionRefusal reason :
       {ConnectionRefusal::kTotal, ConnectionRefusal::kAddress,
        ConnectionRefusal::kDescriptors, ConnectionRefusal::kFlood}) {
    counted.metrics->CountConnectionRefused(reason);
  }
  counted.metrics->CountConnectionKilled(ConnectionKill::kFlood);
  counted.metrics->CountConnectionKilled(ConnectionKill::kSlowReader);
  const ConnectionCounts counts = counted.metrics->connection_counts();
  EXPECT_EQ(counts.open, 3);
  EXPECT_EQ(counts.refused, 4);
  EXPECT_EQ(counts.killed, 2);
}

}  // namespace
}  // namespace tollgate
