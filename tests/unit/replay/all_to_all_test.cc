// An all-to-all of hidden units in the replay: what each replica sends is what becomes another's, step by
// step, and a pair takes the time of its own parts.
#include <gtest/gtest.h>

#include "core/plan/hidden_units.h"
#include "replay/replay.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul::all_to_all_test {

constexpr int kUnits = 13, kColumns = 1000, kSteps = 6;
constexpr std::uint64_t kSeed = 3;

// Units of so many columns, a byte each, that are dealt anew after each step.
Trace dealing(int replicas) {
  OperationRule rule = rule_of("pairwise");
  rule.kind = OperationKind::kAllToAll;
  rule.units = {{kUnits, {{0, kColumns, 1, 0, kColumns}}}};
  return make_trace({{rule}}, {kSeed, replicas, kSteps, kUnits * kColumns});
}

Replayed replayed(const Trace& trace) {
  Case config = star_case(trace.context.replicas, 1e6, 0.05);
  config.network.fidelity = "analytic";
  return run_with(analytic_replay, config, trace);
}

std::int64_t passed_bytes(int from, int to, int replicas, int round) {
  const std::vector<int> before = unit_owners(kSeed, kUnits, 0, replicas, round - 1),
                         after = unit_owners(kSeed, kUnits, 0, replicas, round);
  std::int64_t bytes = 0;
  for (std::size_t unit = 0; unit < before.size(); ++unit)
    bytes += before[unit] == from && after[unit] == to ? kColumns : 0;
  return bytes;
}

TEST(AllToAll, AReplicaSendsTheUnitsThatBecomeAnothers) {
  constexpr int kReplicas = 4;
  const Replayed found = replayed(dealing(kReplicas));
  ASSERT_EQ(found.exchanges.size(), static_cast<std::size_t>(kSteps * kReplicas));
  for (int step = 1; step <= kSteps; ++step)
    for (int replica = 0; replica < kReplicas; ++replica) {
      std::int64_t expected = 0;
      for (int other = 0; other < kReplicas; ++other)
        if (other != replica) expected += passed_bytes(replica, other, kReplicas, step);
      EXPECT_EQ(found.row(step, replica).bytes, expected) << "step " << step;
    }
}

TEST(AllToAll, OfTwoEachIsDoneWhenTheOthersPartIsThere) {
  const Replayed found = replayed(dealing(2));
  for (int step = 1; step <= kSteps; ++step)
    for (int replica = 0; replica < 2; ++replica) {
      const std::int64_t received = passed_bytes(1 - replica, replica, 2, step);
      ASSERT_GT(received, 0);
      const ExchangeRecord& row = found.row(step, replica);
      EXPECT_NEAR(row.done_s - row.start_s, replayed(single_exchange("pair", 2, received)).sync_time_s(),
                  1e-9)
          << "step " << step;
    }
}

}  // namespace longhaul::all_to_all_test
