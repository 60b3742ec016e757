#include "sim/network/fifo_queues.h"

#include <gtest/gtest.h>

#include "net/topologies/registry.h"
#include "tests/unit/net/cases.h"

namespace longhaul {
namespace {

// Two connections from replica 0 to replica 1 and one back; a FIFO of ten full packets.
class FifoQueuesTest : public testing::Test {
 protected:
  FifoQueuesTest() {
    for (const auto& [source, target] : {std::pair{0, 1}, {0, 1}, {1, 0}}) {
      facts_.push_back(connection_facts(topology_, tcp_, source, target));
    }
    for (int number = 0; number < 3; ++number) {
      const ConnectionFacts& facts = facts_[static_cast<std::size_t>(number)];
      shares_.add({&facts.data, &facts.acks});
      shares_.start(number);
      paths_.push_back(queues_.add(number, facts));
    }
  }

  static TcpSpec ten_packets() {
    TcpSpec tcp;
    tcp.queue_bytes = 10 * 1500;
    return tcp;
  }

  const TcpSpec tcp_ = ten_packets();
  const Topology topology_ = build_topology(star_case(2, 1e8, 0.05));
  FairShares shares_{std::vector<double>(4, 1e8), 0};
  FifoQueues queues_{tcp_, topology_, shares_};
  std::vector<ConnectionFacts> facts_;
  std::vector<std::unique_ptr<FifoPath>> paths_;
};

TEST_F(FifoQueuesTest, BurstsThatOverlapShareTheRoom) {
  for (const int number : {0, 1}) queues_.sends(number, 0, 1);
  EXPECT_DOUBLE_EQ(paths_[0]->room(0, 1, 10000), 14480);
  EXPECT_DOUBLE_EQ(paths_[1]->room(0, 1, 10000), 4480);
  EXPECT_DOUBLE_EQ(paths_[0]->room(2, 3, 20000), 14480) << "the others are gone";
  EXPECT_DOUBLE_EQ(paths_[1]->room(2, 3, 10000), 1448) << "a segment passes, however full";
  EXPECT_DOUBLE_EQ(paths_[2]->room(2, 3, 10000), 14480) << "the other direction has its own";
}

TEST_F(FifoQueuesTest, AcknowledgementsWaitForTheReceiversBurst) {
  EXPECT_DOUBLE_EQ(paths_[0]->ack_wait_s(0.5), 0);
  queues_.sends(2, 0.2, 0.9);
  EXPECT_DOUBLE_EQ(paths_[0]->ack_wait_s(0.5), 0.4);
  EXPECT_DOUBLE_EQ(paths_[0]->ack_wait_s(0.1), 0) << "before it begins";
  EXPECT_DOUBLE_EQ(paths_[0]->ack_wait_s(1), 0) << "behind it";
  EXPECT_DOUBLE_EQ(paths_[2]->ack_wait_s(0.5), 0) << "nothing was sent that way";
}

}  // namespace
}  // namespace longhaul
