// Experts that are shared across two sites, in the flow fidelity: the trunk between them is the one
// bottleneck. Compute takes no time here, so that a step is its all-to-alls. By hand: pairs across the sites
// send B/2 each way, all four at once, of which each has a quarter of the trunk.
#include <gtest/gtest.h>

#include "core/parallelism/layer_operations.h"
#include "tests/unit/sim/replays.h"

namespace longhaul::step_graph_flow_test {

constexpr double kTrunk = 1e9, kRtt_s = 0.05, kInside_s = 1e-4;
constexpr int kLayers = 3, kExchanges = 4 * kLayers;
constexpr double kBytes = 64e6;  // of a replica's tokens to their experts

Replayed across_sites(int group_size, ParallelGroups groups) {
  Case config = star_case(8, 1e9, kRtt_s);
  config.network.topology = hierarchical_spec({{"a", 4}, {"b", 4}}, access_section(100e9, 100e9, kInside_s),
                                              access_section(kTrunk, kTrunk, kRtt_s));
  config.network.tcp.segment = kSegment;
  config.workload.step_time.seconds = 0.001;
  ParallelismSpec spec;
  spec.group_size = group_size;
  spec.groups = groups;
  spec.layers = kLayers;
  spec.kind = "experts";
  spec.options = {
      {"per_token", 1}, {"parameters", 100}, {"bytes_per_token", kBytes / 1000}, {"collective", "pairwise"}};
  OperationPlan plan;
  plan.step_graph = step_graph_of(spec, {std::nullopt, 1000, 1000, Wire::kBf16});
  return run_replay(config, make_trace(plan, {1, 8, 1, 1000}));
}

TEST(StepGraphFlow, PairsAcrossSitesShareTheTrunk) {
  const double one_s = kRtt_s / 2 + 4 * (kBytes / 2) * 8 / (kTrunk * payload_share(kSegment));
  const Replayed run = across_sites(2, ParallelGroups::kStrided);
  EXPECT_NEAR(simulated_s(run) / (0.001 + kExchanges * one_s), 1, 0.02);
  // Both ways: four pairs, B/2 each, twelve times, with headers.
  const Rows links = rows_of(run, "links.csv");
  double trunk_bytes = 0;
  for (const Cells& row : links)
    if (row[0] == "a-wan" && row[1] == "forward") trunk_bytes = std::stod(row[2]);
  EXPECT_NEAR(trunk_bytes * payload_share(kSegment) / (kExchanges * 4 * kBytes / 2), 1, 0.001);
}

// Inside a site the trunk carries nothing: three messages of B/4 over 100 Gb/s, which are 4 ms together.
TEST(StepGraphFlow, GroupsInsideASiteLeaveTheTrunkAlone) {
  const Replayed run = across_sites(4, ParallelGroups::kConsecutive);
  for (const Cells& row : rows_of(run, "links.csv")) {
    const bool is_trunk = row[0] == "a-wan" || row[0] == "b-wan";
    if (is_trunk) {
      EXPECT_EQ(row[2], "0");
    }
  }
  EXPECT_LT(simulated_s(run), 0.001 + kExchanges * 0.01);
}

// Of eight, one behind another: each direction of the trunk carries 4 · 4 parts of B/8, 2 B, in the time of
// which nothing is lost but the latency of the rounds that cross.
TEST(StepGraphFlow, AGroupOfBothSitesIsBoundByTheTrunk) {
  const double least_s = 2 * kBytes * 8 / (kTrunk * payload_share(kSegment));
  const double took_s = (simulated_s(across_sites(8, ParallelGroups::kConsecutive)) - 0.001) / kExchanges;
  EXPECT_GT(took_s, least_s);
  EXPECT_LT(took_s, least_s + 7 * kRtt_s);
}

}  // namespace longhaul::step_graph_flow_test
