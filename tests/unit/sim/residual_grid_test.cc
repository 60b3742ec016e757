// The lines that the flow fidelity is held to, on the half of the validation grid on which nothing was
// fitted, against packet results that are kept (results/reference/residuals).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "validation/grid/residual_entries.h"

namespace longhaul::residual_grid_test {

const std::vector<ReferenceCase>& kept_cases() {
  static const std::vector<ReferenceCase> cases =
      reference_cases(read_reference(LONGHAUL_SOURCE_DIR "/results/reference/residuals/packets.csv"));
  return cases;
}

Spread flow_on_judged(const std::set<std::string>& sets) {
  std::vector<ReferenceCase> judged;
  for (const ReferenceCase& reference_case : kept_cases())
    if (reference_case.grid_case.is_judge() && sets.count(reference_case.grid_case.set))
      judged.push_back(reference_case);
  std::vector<double> residuals;
  for (const Entry& entry : entries_of(judged)) residuals.push_back(entry.flow());
  const Spread spread = spread_of(residuals);
  std::printf("%zu exchanges: median %.1f %%, 95th %.1f %%, largest %.1f %%, mean, signed %+.1f %%\n",
              spread.count, 100 * spread.median, 100 * spread.p95, 100 * spread.largest,
              100 * spread.mean_signed);
  return spread;
}

TEST(ResidualGrid, QueueHostStaysBelowItsLines) {
  const Spread spread = flow_on_judged({"host", "large"});
  EXPECT_GE(spread.count, 300u);
  EXPECT_LE(spread.median, 0.03);
  EXPECT_LE(spread.p95, 0.10);
}

TEST(ResidualGrid, MarksAndRandomLossStayBelowTheirLines) {
  EXPECT_LE(flow_on_judged({"fq_codel-ecn"}).median, 0.08);
  EXPECT_LE(flow_on_judged({"loss"}).median, 0.15);
}

TEST(ResidualGrid, PairsOnATrunkStayBelowTheirLine) {
  EXPECT_LE(flow_on_judged({"trunk"}).median, 0.05);
}

TEST(ResidualGrid, WindowsThatDoNotCoverThePathStayBelowTheirLines) {
  const Spread spread = flow_on_judged({"window", "regions"});
  EXPECT_GE(spread.count, 150u);
  EXPECT_LE(spread.median, 0.02);
  EXPECT_LE(spread.p95, 0.05);
}

// Median and percentiles by hand: |−4|, 1, 2, 3 per cent; the 95th of four is the fourth.
TEST(ResidualGrid, SpreadIsThatOfSizesAndTheMeanHasItsSign) {
  const Spread spread = spread_of({0.01, -0.04, 0.03, 0.02, 0.02});
  EXPECT_EQ(spread.count, 5u);
  EXPECT_DOUBLE_EQ(spread.median, 0.02);
  EXPECT_DOUBLE_EQ(spread.p95, 0.04);
  EXPECT_DOUBLE_EQ(spread.largest, 0.04);
  EXPECT_NEAR(spread.mean_signed, 0.008, 1e-15);
}

// What the page says of the cases: every level of every axis is in both halves, as often as the others.
template <typename Value>
void expect_balanced(std::size_t levels, Value GridCase::*axis) {
  std::map<Value, int> halves[2];
  int cases = 0;
  for (const ReferenceCase& kept : kept_cases()) {
    if (kept.grid_case.set != "host") continue;
    ++halves[kept.grid_case.is_judge()][kept.grid_case.*axis];
    ++cases;
  }
  EXPECT_GE(cases, 300);
  for (const auto& half : halves) EXPECT_EQ(half.size(), levels);
  for (const auto& [level, count] : halves[0])
    EXPECT_NEAR(count + halves[1][level], cases / static_cast<double>(levels), 1) << level;
}

TEST(ResidualGrid, EveryLevelOfEveryAxisIsInBothHalves) {
  expect_balanced(5, &GridCase::kind);
  expect_balanced(5, &GridCase::rtt_s);
  expect_balanced(3, &GridCase::up);
  expect_balanced(4, &GridCase::connections);
  expect_balanced(2, &GridCase::gap_s);
}

// The largest message in bandwidth-delay products; where a window is smaller than the path, in windows.
TEST(ResidualGrid, SizesStayWithinTheGridAndTheirPayload) {
  for (const ReferenceCase& kept : kept_cases()) {
    const GridCase& grid_case = kept.grid_case;
    const double window =
        grid_case.window > 0 ? grid_case.window : grid_case.throughput / 8 * grid_case.rtt_s;
    const double path = std::min(grid_case.up, grid_case.down) / 8 * grid_case.rtt_s;
    EXPECT_GE(window > 0 ? 4.001 * grid_case.products * path / (grid_case.connections * window)
                         : grid_case.products,
              1);
    EXPECT_LE(grid_case.products, 200);
    EXPECT_LE(grid_case.payload(), 500000000);
    EXPECT_GE(grid_case.replicas, 2);
    EXPECT_LE(grid_case.replicas, 8);
  }
}

// A row of a reference file is its case again.
TEST(ResidualGrid, CasesSurviveTheirRow) {
  for (const ReferenceCase& kept : kept_cases())
    EXPECT_EQ(cells_of(grid_case_from(cells_of(kept.grid_case))), cells_of(kept.grid_case));
}

// Two sites, three pairs, 120 ms, 1 : 4: the round trips are 120, 60 and 30 ms.
TEST(ResidualGrid, RoundTripsAcrossATrunkFallGeometrically) {
  GridCase grid_case;
  grid_case.kind = "pair";
  grid_case.replicas = 6;
  grid_case.up = grid_case.down = 1e9;
  grid_case.trunk = 1e8;
  grid_case.rtt_s = 0.12;
  grid_case.rtt_ratio = 4;
  const Topology topology = topology_of(grid_case);
  EXPECT_NEAR(topology.rtt_s(0, 3), 0.12, 1e-12);
  EXPECT_NEAR(topology.rtt_s(1, 4), 0.06, 1e-12);
  EXPECT_NEAR(topology.rtt_s(2, 5), 0.03, 1e-12);
  EXPECT_EQ(topology.bottleneck(0, 3), 1e8);
}

}  // namespace longhaul::residual_grid_test
