// Sliced collectives replayed on an idle star and on a mesh, against the closed forms of their headers; and
// senders that push before their receiver has posted. Window effects are out of reach (open_star()).
#include <gtest/gtest.h>

#include "net/collectives/collective.h"
#include "net/collectives/slices.h"
#include "tests/support/idle_star.h"
#include "tests/unit/sim/replays.h"

namespace longhaul::sliced_star_test {

const int kSlices[] = {2, 3, 8};

struct Sliced {
  double measured_s, closed_form_s;
};

// `segments` of each slice of a unit.
Sliced sliced(const std::string& name, int members, int slices, int segments, Case config) {
  const Collective& collective = find_collective(name);
  const std::int64_t slice = std::int64_t{kSegment} * segments;
  const bool has_parts = collective.unit_bytes({members, members, 1, {}}) == 1;
  const std::int64_t bytes = slice * slices * (has_parts ? members : 1);
  config.network.slice = {SliceSpec::Kind::kBytes, slice};
  const Trace trace = make_trace({{rule_of(name)}}, {1, members, 1, bytes});
  return {run_replay(config, trace).sync_time_s(),
          sliced_idle_star_s(name, {members, bytes, 1, {}}, slices, kLatency, kBytesPerSecond)};
}

Sliced on_star(const std::string& name, int members, int slices, int segments) {
  return sliced(name, members, slices, segments, open_star(members));
}

// Slices of 5 ms, where the latency decides, and of 52 ms, where the link is busy all the time.
TEST(SlicedStar, ClosedFormsThatAreExact) {
  for (const std::string name : {"ring", "direct", "parameter-server", "all-gather", "reduce-scatter"})
    for (int members = 2; members <= 9; ++members)
      for (const int slices : kSlices)
        for (const int segments : {1, 10}) {
          const Sliced sliced = on_star(name, members, slices, segments);
          EXPECT_NEAR(sliced.measured_s / sliced.closed_form_s, 1, 3e-3)
              << name << " of " << members << ", " << slices << " slices of " << segments;
        }
}

TEST(SlicedStar, PairsAndSmallTreesAreExact) {
  for (const int slices : kSlices) {
    for (const std::string name : {"pair", "tree", "leaf-tree", "heap-tree"}) {
      const Sliced pair = on_star(name, 2, slices, 4);
      EXPECT_NEAR(pair.measured_s / pair.closed_form_s, 1, 3e-3) << name << ", " << slices;
    }
    const Sliced three = on_star("heap-tree", 3, slices, 4);
    EXPECT_NEAR(three.measured_s / three.closed_form_s, 1, 3e-3) << slices;
  }
}

// Below: the root's link carries the vector of each of its children, in and out, after a latency there and
// back.
TEST(SlicedStar, TreesStayBetweenTheirBounds) {
  for (int members = 2; members <= 9; ++members)
    for (const int slices : kSlices) {
      const double vector_s = 4. * kSegment * slices / kBytesPerSecond;
      const auto check = [&](const std::string& name, int children) {
        const Sliced sliced = on_star(name, members, slices, 4);
        EXPECT_LT(sliced.measured_s, 1.003 * sliced.closed_form_s)
            << name << " of " << members << ", " << slices;
        EXPECT_GT(sliced.measured_s, 2 * kLatency + children * vector_s) << name << " of " << members;
      };
      check("tree", ceil_log2(members));
      check("heap-tree", std::min(2, members - 1));
      check("leaf-tree", members == 2 ? 1 : 2);
    }
}

// On links of their own nothing is shared: 2D hops, and the slices behind the first, as in `analytic`.
TEST(SlicedMesh, FlowAndAnalyticAgree) {
  for (const int members : {2, 4, 7, 8})
    for (const int slices : kSlices)
      for (const std::string name : {"ring", "tree", "heap-tree", "leaf-tree", "direct"}) {
        Case mesh = open_star(members);
        mesh.network.topology = mesh_spec(kRate, kRtt);
        const double flow_s = sliced(name, members, slices, 4, mesh).measured_s;
        mesh.network.fidelity = "analytic";
        const double analytic_s = sliced(name, members, slices, 4, mesh).measured_s;
        EXPECT_NEAR(flow_s / analytic_s, 1, 5e-3) << name << " of " << members << ", " << slices;
      }
}

// In slices the pushed ones are passed on before the late member is there: a ring of three.
TEST(Eager, DeliversTheSameBytes) {
  Trace trace = make_trace({{rule_of("ring")}}, {1, 3, 1, std::int64_t{kSegment} * 36});
  trace.measured_s = {{1, 1.5, 2}};
  Case config = open_star(3);
  config.workload.step_time.kind = StepTime::Kind::kMeasured;
  const Replayed rendezvous = run_replay(config, trace);
  config.network.slice = {SliceSpec::Kind::kBytes, std::int64_t{kSegment} * 3};
  config.network.eager = 5. * kSegment;
  const Replayed eager = run_replay(config, trace);
  for (int replica = 0; replica < 3; ++replica)
    EXPECT_EQ(eager.row(1, replica).bytes, rendezvous.row(1, replica).bytes);
  EXPECT_LT(eager.sync_time_s(), rendezvous.sync_time_s());
}

}  // namespace longhaul::sliced_star_test
