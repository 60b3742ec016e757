// What longhaul compare promises of its verdicts, by simulation with fixed seeds: normal losses of known mean
// and spread go through the whole comparison, and its verdicts are counted.
#include <gtest/gtest.h>

#include "analysis/comparison/comparison.h"
#include "core/base/random.h"
#include "tests/unit/analysis/compared_runs.h"

namespace longhaul::comparison_error_rates_test {

constexpr int kDraws = 1000, kSeeds = 5;

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed) : stream_(seed, static_cast<Purpose>(40), 1) {}

  // A method's losses: what all methods share of a seed, its own scatter of one standard deviation, an
  // effect.
  std::vector<double> losses(const std::vector<double>& shared, double effect) {
    std::vector<double> drawn;
    for (const double value : shared) drawn.push_back(3 + value + effect + stream_.normal());
    return drawn;
  }

  std::vector<double> shared(double scale) {
    std::vector<double> drawn;
    for (int i = 0; i < kSeeds; ++i) drawn.push_back(scale * stream_.normal());
    return drawn;
  }

 private:
  RandomStream stream_;
};

// Any verdict but "no difference shown".
bool claims_a_difference(const std::vector<Json>& records) {
  const ComparisonTable table = compare_runs({run_of(records)}, {"method", {"final_loss"}, {}});
  for (const ComparisonRow& row : table.metrics[0].rows)
    for (const Comparison& comparison : row.comparisons)
      if (comparison.outcome != Comparison::Outcome::kNone) return true;
  return false;
}

// In how many of kDraws, each with the records that `add` draws.
template <typename Add>
int claimed_of(std::uint64_t seed, const Add& add) {
  Simulation simulation(seed);
  int claimed = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<Json> records;
    add(simulation, records);
    claimed += claims_a_difference(records);
  }
  testing::Test::RecordProperty("claimed", claimed);
  return claimed;
}

// Two methods that share what a seed does to both.
auto two_methods(double effect) {
  return [=](Simulation& simulation, std::vector<Json>& records) {
    const std::vector<double> shared = simulation.shared(2);
    add_losses(records, "diloco", simulation.losses(shared, 0));
    add_losses(records, "noloco", simulation.losses(shared, effect));
  };
}

// 5 % of the draws are expected, 50 ± 7: the test is as exact as Student's t.
TEST(ErrorRates, ANullDifferenceIsClaimedInAtMostFivePercent) {
  const int claimed = claimed_of(1, two_methods(0));
  EXPECT_LE(claimed, kDraws / 20);
  EXPECT_GE(claimed, kDraws / 40);  // a test that never speaks would pass too
}

// Four methods at three points: eighteen comparisons, and still at most 5 % of the matrices hold a false one.
TEST(ErrorRates, HolmHoldsTheFamilyOfAMatrix) {
  const int claimed = claimed_of(2, [](Simulation& simulation, std::vector<Json>& records) {
    for (const int connections : {1, 4, 16})
      for (const char* label : {"ddp", "diloco", "noloco", "independent"})
        add_losses(records, label, simulation.losses(std::vector<double>(kSeeds, 0.), 0),
                   {{"network.tcp.connections", connections}});
  });
  EXPECT_LE(claimed, kDraws / 20);
  EXPECT_GE(claimed, kDraws / 200);
}

// Three of either method's own standard deviations, so 3/√2 of a difference: what seeds share is paired away.
TEST(ErrorRates, AnEffectOfThreeStandardDeviationsIsFound) {
  EXPECT_GE(claimed_of(3, two_methods(3)), kDraws * 8 / 10);
}

}  // namespace longhaul::comparison_error_rates_test
