// A network with a dead connection: the replay must end and say who waits for whom.
#include <gtest/gtest.h>

#include "tests/support/said.h"
#include "tests/unit/sim/replays.h"

namespace longhaul::deadlock_test {

// Carries everything but what goes from `source` to `target`.
class CutNetwork : public Network {
 public:
  CutNetwork(std::unique_ptr<Network> carrier, int source, int target)
      : carrier_(std::move(carrier)), source_(source), target_(target) {}

  void send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts) override {
    if (transfer.source != source_ || transfer.target != target_)
      carrier_->send(transfer, std::move(on_arrival), parts);
  }
  double ready_s() const override { return carrier_->ready_s(); }
  const std::vector<LinkLoad>& loads() override { return carrier_->loads(); }

 private:
  std::unique_ptr<Network> carrier_;
  int source_, target_;
};

std::string error_of(const Trace& trace, int source, int target) {
  const NetworkMaker cut = [=](const NetworkSpec& spec, const Topology& topology, const auto& ends,
                               std::uint64_t seed) {
    return std::make_unique<CutNetwork>(make_network(spec, topology, ends, seed), source, target);
  };
  return said_by([&] { run_replay(star_case(trace.context.replicas, 1e8, 0.05), trace, cut); });
}

// A ring of three sends 0 → 1 → 2 → 0. Replica 1 never gets its first chunk and so never sends its second,
// which replica 2 waits for in its second round; replica 0 waits in its third for the third of replica 2.
TEST(Deadlock, OfARingSaysWhoWaitsForWhom) {
  const std::string error = error_of(single_exchange("ring", 3, 30000), 0, 1);
  EXPECT_SAYS(error, "ran out of events while exchanges are open (3 of 3 replicas wait)");
  EXPECT_SAYS(error, "exchange outer of step 1: replica 0 in round 3 waits for replica 2");
  EXPECT_SAYS(error, "exchange outer of step 1: replica 1 in round 1 waits for replica 0");
  EXPECT_SAYS(error, "exchange outer of step 1: replica 2 in round 2 waits for replica 1");
}

// The other pair goes on to its last step; whoever waits is named, and nobody else.
TEST(Deadlock, OfAPairLeavesTheOtherPairAlone) {
  Trace trace = single_exchange("pair", 4, 1000, 3);
  for (auto& [key, groups] : trace.groups) groups = {{0, 1}, {2, 3}};
  const std::string error = error_of(trace, 2, 3);
  EXPECT_SAYS(error, "of step 1: replica 3 in round 1 waits for replica 2");
  EXPECT_EQ(error.find("replica 0 "), std::string::npos) << error;
  EXPECT_EQ(error.find("replica 1 "), std::string::npos) << error;
}

}  // namespace longhaul::deadlock_test
