// The flow fidelity that solves what a change touches against the one that solves all flows every time:
// stars and trunks with slow start, caps, several connections and acknowledgements.
#include <gtest/gtest.h>

#include "tests/support/max_min_rates.h"
#include "tests/unit/sim/random_stars.h"

namespace longhaul::flow_solving_test {

TEST(FlowSolving, TouchedAndWholeGiveTheSameCompletionTimes) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 500; ++trial) {
    RandomStars stars = draw_stars(random, trial);
    stars.tcp.connections = 1 + trial % 4;
    if (trial % 5 == 0) stars.tcp.window = 100000;
    const auto arrived_s = [&stars](FairShares::Reference reference) {
      FlowNetwork network(stars.tcp, stars.topology, 1, reference);
      return carry(stars.transfers, network).arrived_s;
    };
    const std::vector<double> fast = arrived_s(nullptr);
    const std::vector<double> slow = arrived_s(max_min_rates);
    // The clock counts nanoseconds, and each of a few dozen changes may round the other way.
    for (std::size_t i = 0; i < fast.size(); ++i) {
      ASSERT_GT(slow[i], 0);
      ASSERT_NEAR(fast[i], slow[i], 1e-9 * slow[i] + 2e-8) << "trial " << trial << ", transfer " << i;
    }
  }
}

}  // namespace longhaul::flow_solving_test
