#include <gtest/gtest.h>

#include "net/collectives/collective.h"
#include "net/tcp/fifo.h"

namespace longhaul {
namespace {

// 2 connections of 3 replicas with windows of 100 segments each: 600 packets of 1500 bytes, and 300
// acknowledgements of 52.
TEST(FifoCheck, WindowsNeedRoomForTheirPacketsAndTheAcknowledgementsOfAsMany) {
  TcpSpec tcp;
  tcp.connections = 2;
  EXPECT_DOUBLE_EQ(fifo_need(tcp, 144800, 3), 600 * 1500 + 300 * 52);
}

// A ring has one neighbour each way; member 0 of a binomial tree of 5 to 8 hears from three children; an
// inner node of a heap has two children and a parent; all n − 1 others write to one of direct.
TEST(FifoCheck, PeersAreThoseThatMayMeetAtOneLink) {
  const auto peers = [](const char* name, int members) {
    return peers_at_once(find_collective(name), members);
  };
  EXPECT_EQ(peers("pair", 2), 1);
  for (const int members : {2, 3, 8, 17, 200}) {
    EXPECT_EQ(peers("ring", members), 1);
    EXPECT_EQ(peers("halving-doubling", members), 1);
    EXPECT_EQ(peers("direct", members), members - 1);
  }
  EXPECT_EQ(peers("tree", 2), 1);
  EXPECT_EQ(peers("tree", 4), 2);
  EXPECT_EQ(peers("tree", 5), 3);
  EXPECT_EQ(peers("tree", 8), 3);
  EXPECT_EQ(peers("tree", 1000), 10);
  EXPECT_EQ(peers("heap-tree", 3), 2);
  EXPECT_EQ(peers("heap-tree", 8), 3);
}

}  // namespace
}  // namespace longhaul
