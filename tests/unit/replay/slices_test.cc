// How messages are cut, and what a sliced program takes without a simulator. That it still adds everything up
// once: tests/unit/net/collectives_test.cc.
#include "net/collectives/slices.h"

#include <gtest/gtest.h>

#include <set>

#include "net/collectives/collective.h"
#include "net/tcp/framing.h"
#include "replay/estimate.h"
#include "tests/support/idle_star.h"
#include "tests/support/said.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul::slices_test {

constexpr std::int64_t kMiB = 1 << 20;

int count(const SliceSpec& spec, const std::string& name, int members, std::int64_t bytes) {
  return slice_count(spec, find_collective(name), {members, bytes, 1, {}});
}

TEST(Slices, CutAMessageIntoEqualPartsOfAtMostTheSizeOrAsTheLibraries) {
  const SliceSpec spec{SliceSpec::Kind::kBytes, 1000};
  EXPECT_EQ(count(spec, "tree", 4, 1000), 1);
  EXPECT_EQ(count(spec, "tree", 4, 1001), 2);
  EXPECT_EQ(count(spec, "ring", 4, 4000), 1) << "chunks of a quarter";
  EXPECT_EQ(count(spec, "ring", 4, 4001), 2);
  EXPECT_EQ(count(spec, "pair", 2, 5000), 5);
  EXPECT_EQ(count({}, "ring", 4, 1000000), 1);
  for (const char* name : {"halving-doubling", "double-tree", "root", "serial", "hierarchical"})
    EXPECT_EQ(count(spec, name, 2, 5000), 1) << name;
  const SliceSpec nccl{SliceSpec::Kind::kNccl, 0}, gloo{SliceSpec::Kind::kGloo, 0};
  EXPECT_EQ(count(nccl, "ring", 4, 40 * kMiB), 10);
  EXPECT_EQ(count(nccl, "tree", 4, 40 * kMiB), 80);
  EXPECT_EQ(count(nccl, "pair", 2, 40 * kMiB), 320);
  EXPECT_EQ(count(nccl, "pair", 4, 40 * kMiB), 10) << "a ring";
  EXPECT_EQ(count(gloo, "ring", 4, 40 * kMiB), 10);
  EXPECT_EQ(count(gloo, "ring", 4, kMiB), 2) << "two segments at least";
  EXPECT_EQ(count(gloo, "tree", 4, 40 * kMiB), 1);
}

// 10 bytes in three slices: 0-3, 3-6, 6-10. A byte in three slices: one has it.
TEST(Slices, OfARoundCoverEachMessageOnce) {
  const Round round{{{1, 100, 10, true}}, {{2, 5, 1, false}}};
  const Round first = slice_of(round, 0, 3), last = slice_of(round, 2, 3);
  ASSERT_EQ(first.sends.size(), 1u);
  EXPECT_EQ(first.sends[0].offset, 100);
  EXPECT_EQ(first.sends[0].bytes, 3);
  EXPECT_EQ(last.sends[0].offset, 106);
  EXPECT_EQ(last.sends[0].bytes, 4);
  EXPECT_TRUE(last.sends[0].reduces);
  EXPECT_TRUE(first.receives.empty());
  ASSERT_EQ(last.receives.size(), 1u);
  EXPECT_EQ(last.receives[0].bytes, 1);
}

// A halving's messages are parts of parts: cut by the slice they would carry what has not come yet. So it has
// no unit, nor have those that await one message before the next.
TEST(Slices, OnlyProgramsOfWholeUnitsAreCut) {
  std::set<std::string> are_cut;
  for (const auto& collective : collectives())
    if (collective->unit_bytes({4, 1000, 1}) > 0) are_cut.insert(collective->name());
  EXPECT_EQ(are_cut, (std::set<std::string>{"all-gather", "direct", "heap-tree", "leaf-tree", "pair",
                                            "parameter-server", "reduce-scatter", "ring", "send", "tree"}));
}

TEST(Slices, TooManyAreRefused) {
  Case config = star_case(256, 1e9, 0.1);
  config.network.slice = {SliceSpec::Kind::kBytes, 65536};
  const auto estimate_of = [&](std::int64_t bytes) {
    return estimate(config, make_trace({{rule_of("ring")}}, {1, 256, 1, bytes}));
  };
  // Chunks of a 256th, 2 · 255 · 256 messages, each in `slices`.
  EXPECT_EQ(estimate_of(256 * 65536 * 10).transfers, 2 * 255 * 256 * 10);
  const InputError error = thrown_by([&] { estimate_of(std::int64_t{256} * 65536 * 10000); });
  EXPECT_EQ(error.parts().path, "network.slice");
  EXPECT_SAYS(error.parts().found, "130560 messages");
  EXPECT_SAYS(error.parts().hint, "slices of at least");
}

// Nothing is shared between connections: a pipelined tree of D levels is 2D hops of a latency and a slice,
// and the other slices behind the first.
TEST(Slices, AnalyticPipelinesAreHopsAndTheSlicesBehind) {
  const double rate = 8e6, bytes_per_s = rate * payload_share(1448) / 8, latency_s = 0.05;
  for (const int members : {2, 3, 4, 5, 6, 7, 8, 9})
    for (const int slices : {2, 5, 16})
      for (const std::string name : {"ring", "heap-tree", "tree"}) {
        const std::int64_t bytes = std::int64_t{members} * slices * 10000;
        const bool is_ring = name == "ring";
        const int levels = name == "tree" ? ceil_log2(members) : floor_log2(members);
        if (name == "tree" && members != 1 << levels) continue;
        Case config = star_case(members, rate, 2 * latency_s);
        const std::int64_t unit = is_ring ? bytes / members : bytes;
        config.network.slice = {SliceSpec::Kind::kBytes, unit / slices};
        const double slice_s = static_cast<double>(unit) / slices / bytes_per_s;
        const double expected =
            is_ring ? pipelined_rounds_s(2 * (members - 1), slice_s * slices, slices, latency_s)
                    : 2 * levels * (latency_s + slice_s) + (slices - 1) * slice_s;
        EXPECT_NEAR(walked(config, single_exchange(name, members, bytes)).sync_time_s(), expected, 1e-6)
            << name << " of " << members << " in " << slices;
      }
}

// Replica 0 is ready after 1 s, replica 1 after 3 s: what was pushed has come, the rest follows.
TEST(Eager, AnalyticPushesSoManyBytesAhead) {
  const double rate = 8e6, bytes_per_s = rate * payload_share(1448) / 8, latency_s = 0.05;
  Trace trace = single_exchange("pair", 2, 800000);
  trace.measured_s = {{1, 3}};
  Case config = star_case(2, rate, 2 * latency_s);
  config.workload.step_time.kind = StepTime::Kind::kMeasured;
  for (const double eager : {0., 300000., 1e9}) {
    config.network.eager = eager;
    const Replayed replayed = walked(config, trace);
    const double left = std::max(0., 800000 - eager);
    EXPECT_NEAR(replayed.row(1, 1).done_s, 3 + (left > 0 ? latency_s + left / bytes_per_s : 0), 1e-6);
    EXPECT_NEAR(replayed.row(1, 0).done_s, 3 + latency_s + 800000 / bytes_per_s, 1e-6);
  }
}

}  // namespace longhaul::slices_test
