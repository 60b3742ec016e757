// The arithmetic of the CUDA kernels over the arena's tables against updates/, which the hand-worked
// histories in tests/golden hold: on the host everywhere, as kernels where there is a GPU.
#include <cmath>

#include "core/base/random.h"
#include "tests/unit/trainer/operation_support.h"
#include "tests/unit/trainer/row_machine.h"
#include "trainer/optimizer/adamw.h"

namespace longhaul::row_kernels_test {

enum class Machine { kHostOneColumn, kHostPacks, kDevice };

// Columns: no multiple of a slice, nor of a word of bits.
constexpr std::int64_t kReplicas = 7, kColumns = 2 * 4096 + 52;

std::string name_of(const testing::TestParamInfo<Machine>& info) {
  const char* names[] = {"HostOneColumn", "HostPacks", "Device"};
  return names[static_cast<int>(info.param)];
}

class RowKernels : public testing::TestWithParam<Machine> {
 protected:
  void SetUp() override {
    if (GetParam() == Machine::kHostOneColumn) machine_ = std::make_unique<HostMachine<1>>();
    if (GetParam() == Machine::kHostPacks) machine_ = std::make_unique<HostMachine<4>>();
    if (GetParam() == Machine::kDevice) machine_ = make_device_machine();
    if (!machine_) GTEST_SKIP() << "no GPU";
  }

  Table random(double deviation, std::uint32_t stream_number) const {
    RandomStream stream(3, Purpose::kInitialWeights, stream_number);
    Table table(static_cast<std::size_t>(kReplicas * kColumns));
    for (float& value : table) value = static_cast<float>(deviation * stream.normal());
    return table;
  }

  // Fused multiply-adds round once where the reference may round twice.
  static void expect_near(const Table& found, const Table& expected, const char* what) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], 2e-6 * (std::abs(expected[i]) + 0.1)) << what << " at " << i;
  }

  std::unique_ptr<RowMachine> machine_;
};

INSTANTIATE_TEST_SUITE_P(Machines, RowKernels,
                         testing::Values(Machine::kHostOneColumn, Machine::kHostPacks, Machine::kDevice),
                         name_of);

TEST_P(RowKernels, ClipFactorsAreThoseOfEachReplicasNorm) {
  AdamwRun run{{}, random(1, 1), {}, {}, kReplicas, kColumns};
  std::fill(run.gradient.begin(), run.gradient.begin() + kColumns, 1e-4f);  // replica 0: not clipped
  run.gradient[kColumns + 5] = INFINITY;                                    // replica 1: shows
  const std::vector<float> factors = machine_->clip_factors(run, 2.5);
  EXPECT_EQ(factors[0], 1);
  EXPECT_TRUE(std::isnan(factors[1]));
  for (std::int64_t r = 2; r < kReplicas; ++r)
    EXPECT_NEAR(factors[static_cast<std::size_t>(r)],
                clip_factor(row_norm(run.gradient.data() + r * kColumns, kColumns), 2.5), 1e-7);
  for (const float factor : machine_->clip_factors({{}, random(1, 1), {}, {}, kReplicas, kColumns}, 0))
    EXPECT_EQ(factor, 1);
}

TEST_P(RowKernels, AdamwIsTheHostsForThreeSteps) {
  OptimizerSpec spec;
  spec.weight_decay = 0.1;
  const std::vector<DecayRange> ranges = {{0, 33, true}, {33, 97, false}, {97, kColumns, true}};
  AdamwRun run{random(1, 1), {},      Table(kReplicas * kColumns), Table(kReplicas * kColumns),
               kReplicas,    kColumns};
  AdamwRun expected = run;
  std::vector<float> factors;
  for (int r = 0; r < kReplicas; ++r) factors.push_back(1.f / static_cast<float>(r + 1));
  for (int step = 1; step <= 3; ++step) {
    const double lr = 0.01 * step;
    run.gradient = expected.gradient = random(0.1, static_cast<std::uint32_t>(10 + step));
    machine_->adamw(run, factors, step_scalars(spec, lr, step), decay_bits(ranges, kColumns),
                    adamw_constants(spec));
    for (std::int64_t r = 0; r < kReplicas; ++r)
      adamw_step(spec, lr, step, factors[static_cast<std::size_t>(r)], ranges,
                 {expected.weights.data() + r * kColumns, expected.gradient.data() + r * kColumns,
                  expected.first_moment.data() + r * kColumns, expected.second_moment.data() + r * kColumns});
    expect_near(run.weights, expected.weights, "weights");
    expect_near(run.first_moment, expected.first_moment, "first moment");
    expect_near(run.second_moment, expected.second_moment, "second moment");
    for (std::size_t i = 0; i < run.weights.size(); ++i)
      ASSERT_EQ(run.narrow[i].bits, to_bf16(run.weights[i])) << "weights in bf16 at " << i;
  }
}

struct OuterCase {
  std::vector<std::vector<int>> groups;
  Wire wire;
  bool sent_ahead;
};

// Pairs, a row that is in no group, groups larger than what is kept in registers.
const OuterCase kCases[] = {{{{0, 3}, {1, 6}, {2, 4}}, Wire::kFp32, false},
                            {{{0, 1, 2, 3, 4, 5, 6}}, Wire::kBf16, false},
                            {{{1, 2, 4}, {0, 3, 5, 6}}, Wire::kFp16, false},
                            {{{0, 2, 3, 4, 5, 6}}, Wire::kBf16, true},
                            {{{4}}, Wire::kFp32, false}};

void copy_in(const Table& table, Arena& arena, Slot slot) {
  std::copy(table.begin(), table.end(), arena.row(slot, 0));
}

// The host's runner on the same rows; anchors were sent ahead when the slow weights were these.
OuterRun on_host(OuterRun run, const MethodSpec& method, const OuterCase& outer_case) {
  UpdateBench bench(method, kReplicas, kColumns);
  OperationRule ahead = rule_for({"phi"}, outer_case.wire);
  ahead.name = "ahead";
  ahead.overlap_steps = 1;
  if (outer_case.sent_ahead) {
    copy_in(run.anchors, bench.arena, Slot::kSlowWeights);
    bench.runner.post({&ahead, 1, 2, outer_case.groups, 0});
  }
  copy_in(run.theta, bench.arena, Slot::kWeights);
  copy_in(run.phi, bench.arena, Slot::kSlowWeights);
  copy_in(run.momentum, bench.arena, Slot::kOuterMomentum);
  bench.run(rule_for({"delta"}, outer_case.wire), 2, outer_case.groups);
  const auto table = [&](Slot slot) {
    return Table(bench.arena.row(slot, 0), bench.arena.row(slot, 0) + kReplicas * kColumns);
  };
  run.theta = table(Slot::kWeights), run.phi = table(Slot::kSlowWeights),
  run.momentum = table(Slot::kOuterMomentum);
  return run;
}

class Outer : public RowKernels {
 protected:
  OuterRun start(const OuterCase& outer_case) const {
    OuterRun run{random(1, 1), random(1, 2), random(1, 3), {}, outer_case.groups, outer_case.wire, kColumns};
    if (!outer_case.sent_ahead) return run;
    run.anchors = random(1, 4);
    for (float& anchor : run.anchors) anchor = as_sent(anchor, run.wire);
    return run;
  }

  // It leaves what the host's runner does with the method.
  void expect_the_hosts(const MethodSpec& method, const AnyOuterStep& step) const {
    for (const OuterCase& outer_case : kCases) {
      OuterRun run = start(outer_case);
      const OuterRun expected = on_host(run, method, outer_case);
      machine_->outer(run, step);
      expect_near(run.theta, expected.theta, "theta");
      expect_near(run.phi, expected.phi, "phi");
      expect_near(run.momentum, expected.momentum, "momentum");
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Machines, Outer,
                         testing::Values(Machine::kHostOneColumn, Machine::kHostPacks, Machine::kDevice),
                         name_of);

TEST_P(Outer, NolocoIsTheHosts) {
  expect_the_hosts({"noloco", "noloco", {{"alpha", 0.5}, {"beta", 0.7}, {"gamma", 0.3}}},
                   NolocoStep{0.5f, 0.7f, 0.3f});
}

TEST_P(Outer, DilocoIsTheHostsWithNesterovAndWithout) {
  for (const bool nesterov : {true, false})
    expect_the_hosts(
        {"diloco", "diloco", {{"outer_lr", 0.7}, {"outer_momentum", 0.9}, {"nesterov", nesterov}}},
        DilocoStep{0.7f, 0.9f, nesterov});
}

TEST_P(Outer, AverageIsTheHosts) {
  for (const OuterCase& outer_case : kCases) {
    Table rows = random(1, 1);
    UpdateBench bench({"ddp", "ddp", Json::object()}, kReplicas, kColumns);
    copy_in(rows, bench.arena, Slot::kGradient);
    bench.run(rule_for({"gradient"}, outer_case.wire), 1, outer_case.groups);
    machine_->average(rows, outer_case.groups, outer_case.wire, kColumns);
    const float* expected = bench.arena.row(Slot::kGradient, 0);
    expect_near(rows, Table(expected, expected + kReplicas * kColumns), "rows");
  }
}

}  // namespace longhaul::row_kernels_test
