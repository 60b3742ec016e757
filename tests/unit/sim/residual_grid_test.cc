// The lines that the flow fidelity is held to, on the half of the validation grid on which nothing was
// fitted, against packet results that are kept (results/reference/residuals).
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "validation/grid/residual_tables.h"

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

template <typename Value>
void expect_balanced(const std::vector<GridCase>& cases, std::size_t levels, Value GridCase::*axis) {
  std::map<Value, int> counts[2];
  for (const GridCase& grid_case : cases) ++counts[grid_case.is_judge()][grid_case.*axis];
  for (const auto& half : counts) EXPECT_EQ(half.size(), levels);
  for (const auto& [level, count] : counts[0])
    EXPECT_NEAR(count + counts[1][level], static_cast<double>(cases.size()) / static_cast<double>(levels), 1);
}

TEST(ResidualGrid, EveryLevelOfEveryAxisIsInBothHalves) {
  const std::vector<GridCase> cases = draw_set("host");
  EXPECT_GE(cases.size(), 300u);
  expect_balanced(cases, 5, &GridCase::kind);
  expect_balanced(cases, 5, &GridCase::rtt_s);
  expect_balanced(cases, 3, &GridCase::up);
  expect_balanced(cases, 4, &GridCase::connections);
  expect_balanced(cases, 2, &GridCase::gap_s);
}

TEST(ResidualGrid, SizesStayWithinTheGridAndTheirPayload) {
  for (const std::string& set : set_names())
    for (const GridCase& grid_case : draw_set(set)) {
      EXPECT_GE(grid_case.windows() > 0 ? 4.001 * grid_case.windows() : grid_case.products, 1);
      EXPECT_LE(grid_case.products, 200);
      EXPECT_LE(grid_case.payload(), 500000000);
      EXPECT_GE(grid_case.replicas, 2);
      EXPECT_LE(grid_case.replicas, 8);
    }
}

// A row of a reference file is its case again.
TEST(ResidualGrid, CasesSurviveTheirRow) {
  for (const std::string& set : set_names())
    for (const GridCase& grid_case : draw_set(set))
      EXPECT_EQ(cells_of(grid_case_from(cells_of(grid_case))), cells_of(grid_case));
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
