// The CUDA kernels over the arena's tables against updates/, which the hand-worked histories in tests/golden
// hold: on a card, or as plain C++ in emulated_gpu_test, which every build without CUDA has.
#ifdef LONGHAUL_WITH_CUDA
#include "trainer/cuda/row_kernels.h"

#include "core/base/index.h"
#include "tests/unit/trainer/gpu_here.h"
#include "tests/unit/trainer/operation_support.h"
#include "trainer/cuda/device_table.h"
#include "trainer/cuda/outer_rows.h"
#include "trainer/optimizer/adamw.h"
#include "trainer/updates/diloco.h"
#include "trainer/updates/noloco.h"

namespace longhaul::row_kernels_test {

using Table = std::vector<float>;  // [R, P]

constexpr int kReplicas = 7;

// Pairs, a row that is in no group, groups larger than what is kept in registers.
const std::vector<std::tuple<std::vector<std::vector<int>>, Wire, bool>> kCases = {
    {{{0, 3}, {1, 6}, {2, 4}}, Wire::kFp32, false},
    {{{0, 1, 2, 3, 4, 5, 6}}, Wire::kBf16, false},
    {{{1, 2, 4}, {0, 3, 5, 6}}, Wire::kFp16, false},
    {{{0, 2, 3, 4, 5, 6}}, Wire::kBf16, true},
    {{{4}}, Wire::kFp32, false}};

// By columns: no multiple of a slice, nor of a word of bits.
class RowKernels : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
  }

  Table random(std::uint32_t number) const { return normal_row(kReplicas * columns_, 3, number); }

  std::vector<float> clip_factors(const Table& gradient, double largest) const {
    const DeviceTable<float> of(gradient), factors(kReplicas);
    const DeviceTable<double> partial(as_index(kReplicas * norm_slices(columns_)));
    clip_factors_on_device({nullptr, of.get(), nullptr, nullptr, kReplicas, columns_}, largest, partial.get(),
                           factors.get(), nullptr);
    return factors.read();
  }

  // Fused multiply-adds round once where the reference may round twice.
  static void expect_near(const Table& found, const Table& expected, const char* what) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], 2e-6 * (std::abs(expected[i]) + 0.1)) << what << " at " << i;
  }

  // It leaves what the host's runner does on the same rows; anchors: the slow weights when they were sent.
  template <typename Step>
  void expect_the_hosts(const MethodSpec& method, const Step& step) const {
    const Table theta = random(1), phi = random(2), momentum = random(3);
    for (const auto& [groups, wire, sent_ahead] : kCases) {
      UpdateBench expected(method, kReplicas, columns_);
      OperationRule ahead = rule_for({"phi"}, wire);
      ahead.name = "ahead";
      ahead.overlap_steps = 1;
      Table anchors = sent_ahead ? random(4) : Table();
      for (float& anchor : anchors) anchor = as_sent(anchor, wire);
      if (sent_ahead) {
        expected.set(Slot::kSlowWeights, anchors);
        expected.runner.post({&ahead, 1, 2, groups, 0});
      }
      expected.set(Slot::kWeights, theta);
      expected.set(Slot::kSlowWeights, phi);
      expected.set(Slot::kOuterMomentum, momentum);
      expected.run(rule_for({"delta"}, wire), 2, groups);

      const FlatGroups flat(groups);
      const DeviceTable<int> members(flat.members), begins(flat.begins);
      const DeviceTable<float> t(theta), p(phi), m(momentum), a(anchors);
      const DeviceTable<std::uint8_t> packed(anchors.size() * as_index(bytes_per_parameter(wire)));
      pack_on_device(a.get(), packed.get(), wire, sent_ahead ? kReplicas : 0, columns_, nullptr);
      outer_step_on_device(
          OuterTables{t.get(), p.get(), m.get(), packed.get(), {members.get(), begins.get()}, wire, columns_},
          static_cast<std::int64_t>(groups.size()), step, nullptr);
      expect_near(t.read(), expected.table(Slot::kWeights), "theta");
      expect_near(p.read(), expected.table(Slot::kSlowWeights), "phi");
      expect_near(m.read(), expected.table(Slot::kOuterMomentum), "momentum");
    }
  }

  const std::int64_t columns_ = GetParam();
};

// In packs of four, and one by one.
INSTANTIATE_TEST_SUITE_P(Columns, RowKernels, testing::Values(2 * 4096 + 52, 2 * 4096 + 53));

TEST_P(RowKernels, ClipFactorsAreThoseOfEachReplicasNorm) {
  Table gradient = random(1);
  for (const float factor : clip_factors(gradient, 0)) EXPECT_EQ(factor, 1);
  std::fill(gradient.begin(), gradient.begin() + columns_, 1e-4f);  // replica 0: not clipped
  gradient[as_index(columns_ + 5)] = INFINITY;                      // replica 1: shows
  const std::vector<float> factors = clip_factors(gradient, 2.5);
  EXPECT_EQ(factors[0], 1);
  EXPECT_TRUE(std::isnan(factors[1]));
  for (int r = 2; r < kReplicas; ++r)
    EXPECT_NEAR(factors[as_index(r)], clip_factor(row_norm(gradient.data() + r * columns_, columns_), 2.5),
                1e-7);
}

TEST_P(RowKernels, AdamwIsTheHostsForThreeSteps) {
  OptimizerSpec spec;
  spec.weight_decay = 0.1;
  const std::vector<DecayRange> ranges = {{0, 33, true}, {33, 97, false}, {97, columns_, true}};
  Table weights = random(1), first(weights.size()), second(weights.size()), factors;
  const DeviceTable<float> w(weights), m(first), v(second);
  const DeviceTable<Bf16> narrow(weights.size());
  const DeviceTable<std::uint32_t> decaying(decay_bits(ranges, columns_));
  for (int r = 0; r < kReplicas; ++r) factors.push_back(1.f / static_cast<float>(r + 1));
  const DeviceTable<float> f(factors);
  for (int step = 1; step <= 3; ++step) {
    const double lr = 0.01 * step;
    Table gradient = random(static_cast<std::uint32_t>(10 + step));
    for (float& value : gradient) value *= 0.1f;
    const DeviceTable<float> g(gradient);
    const DeviceTable<StepScalars> scalars(std::vector<StepScalars>{step_scalars(spec, lr, step)});
    adamw_on_device({w.get(), g.get(), m.get(), v.get(), kReplicas, columns_, narrow.get()}, f.get(),
                    scalars.get(), decaying.get(), nullptr, adamw_constants(spec), nullptr);
    for (std::int64_t r = 0; r < kReplicas; ++r)
      adamw_step(spec, lr, step, factors[as_index(r)], ranges,
                 {weights.data() + r * columns_, gradient.data() + r * columns_, first.data() + r * columns_,
                  second.data() + r * columns_});
    const Table found = w.read();
    expect_near(found, weights, "weights");
    expect_near(m.read(), first, "first moment");
    expect_near(v.read(), second, "second moment");
    const std::vector<Bf16> in_bf16 = narrow.read();
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(in_bf16[i].bits, to_bf16(found[i])) << "weights in bf16 at " << i;
  }
}

TEST_P(RowKernels, NolocoAndDilocoWithNesterovAndWithoutAreTheHosts) {
  expect_the_hosts({"noloco", "noloco", {{"alpha", 0.5}, {"beta", 0.7}, {"gamma", 0.3}}},
                   NolocoStep{0.5f, 0.7f, 0.3f});
  for (const bool nesterov : {true, false})
    expect_the_hosts(
        {"diloco", "diloco", {{"outer_lr", 0.7}, {"outer_momentum", 0.9}, {"nesterov", nesterov}}},
        DilocoStep{0.7f, 0.9f, nesterov});
}

TEST_P(RowKernels, AverageIsTheHosts) {
  for (const auto& [groups, wire, ahead] : kCases) {
    const Table rows = random(1);
    UpdateBench expected({"ddp", "ddp", Json::object()}, kReplicas, columns_);
    expected.set(Slot::kGradient, rows);
    expected.run(rule_for({"gradient"}, wire), 1, groups);
    const FlatGroups flat(groups);
    const DeviceTable<int> members(flat.members), begins(flat.begins);
    const DeviceTable<float> found(rows);
    average_on_device(found.get(), {members.get(), begins.get()}, static_cast<std::int64_t>(groups.size()),
                      wire, columns_, nullptr);
    expect_near(found.read(), expected.table(Slot::kGradient), "rows");
  }
}

}  // namespace longhaul::row_kernels_test
#endif
