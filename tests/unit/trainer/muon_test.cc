// Muon: the iteration against closed forms in double, a step by hand, and whole trainings.
#include "trainer/optimizer/muon.h"

#include <cmath>

#include "core/base/random.h"
#include "tests/support/every_method.h"
#include "tests/unit/trainer/compared_trainings.h"

namespace longhaul::muon_test {

using Matrix = std::vector<double>;  // row-major

// I − 2 v vᵀ/|v|²: orthogonal.
Matrix reflection(std::int64_t size, std::uint32_t number) {
  RandomStream stream(11, Purpose::kInitialWeights, number);
  Matrix v(as_index(size));
  double square = 0;
  for (double& value : v) value = stream.normal(), square += value * value;
  Matrix h(as_index(size * size));
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t j = 0; j < size; ++j)
      h[as_index(i * size + j)] = (i == j) - 2 * v[as_index(i)] * v[as_index(j)] / square;
  return h;
}

// U diag(values) V with two reflections.
Matrix with_singular_values(const std::vector<double>& values, std::int64_t rows, std::int64_t columns) {
  const Matrix u = reflection(rows, 1), v = reflection(columns, 2);
  Matrix result(as_index(rows * columns));
  for (std::size_t i = 0, width = as_index(columns); i < result.size(); ++i)
    for (std::size_t k = 0; k < values.size(); ++k)
      result[i] += u[i / width * as_index(rows) + k] * values[k] * v[k * width + i % width];
  return result;
}

// Roundings of float32 are made larger by the polynomial's slope at zero, 3.4445⁵ = 485, at most.
constexpr double kRounding = 485 * 1.2e-7;

TEST(NewtonSchulz, AppliesThePolynomialToTheSingularValuesAndKeepsTheVectors) {
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{8, 8}, {8, 24}, {24, 8}, {1, 5}, {48, 16}})
    for (const int steps : {1, 3, 5}) {
      std::vector<double> values;
      double square = 0;
      for (std::int64_t i = 0; i < std::min(rows, columns); ++i) {
        values.push_back(3. / static_cast<double>(1 + i));
        square += values.back() * values.back();
      }
      const Matrix matrix = with_singular_values(values, rows, columns);
      std::vector<float> found(matrix.begin(), matrix.end());
      NewtonSchulz(steps).orthogonalize(rows, columns, found.data());
      for (double& value : values) {
        value /= std::sqrt(square);
        for (int step = 0; step < steps; ++step)
          value = 3.4445 * value - 4.7750 * std::pow(value, 3) + 2.0315 * std::pow(value, 5);
        if (steps < 5) continue;
        EXPECT_GT(value, 0.65) << "as orthogonal as the source says";
        EXPECT_LT(value, 1.25);
      }
      const Matrix expected = with_singular_values(values, rows, columns);
      for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(found[i], expected[i], kRounding)
            << rows << " x " << columns << " at " << i << ", steps " << steps;
    }
}

TEST(NewtonSchulz, LeavesZerosAndForgetsTheMatrixBefore) {
  NewtonSchulz newton_schulz(5);
  std::vector<float> zeros(12), large(100, 2), small = {3, 0, 0, 4}, alone = small;
  newton_schulz.orthogonalize(3, 4, zeros.data());
  for (const float zero : zeros) EXPECT_EQ(zero, 0);
  newton_schulz.orthogonalize(10, 10, large.data());
  newton_schulz.orthogonalize(2, 2, small.data());
  NewtonSchulz(5).orthogonalize(2, 2, alone.data());
  EXPECT_EQ(small, alone);
}

TEST(Muon, FollowsTheHandWorkedHistory) {
  const Json history = golden("muon.json");
  const OptimizerSpec spec = parse_optimizer(history["optimizer"], 10, "optimizer");
  auto theta = history["start"].get<std::vector<float>>();
  std::vector<float> momentum(4);
  const std::vector<MuonMatrix> matrices = {
      {0, history["rows"], history["columns"], static_cast<float>(0.2 * std::sqrt(2.))}};
  for (const Json& entry : history["steps"]) {
    const auto gradient = entry["gradient"].get<std::vector<float>>();
    muon_step(spec, spec.lr, 1, matrices, {theta.data(), gradient.data(), momentum.data()});
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(theta[i], entry["theta"][i].get<double>(), 3e-7) << i;
  }
}

TEST(Muon, HasTheNamedMatricesOfTheLayersAndNothingElse) {
  const ModelShape shape{16, 2, 2, 24, 12, 32};
  OptimizerSpec spec;
  EXPECT_TRUE(muon_matrices(shape, spec).empty());
  spec.name = InnerOptimizer::kMuon;
  const std::vector<MuonMatrix> matrices = muon_matrices(shape, spec);
  ASSERT_EQ(matrices.size(), 2u * 7);
  // Embedding and the first norm, then query, key, value and output of 16 x 16; gate, up and down.
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(as_index(matrices[i].offset), 32 * 16 + 16 + 256 * i);
  for (std::size_t i = 0; i < 7; ++i) {
    const MuonMatrix& matrix = matrices[i];
    EXPECT_EQ(matrix.rows, i == 4 || i == 5 ? 24 : 16);
    EXPECT_EQ(matrix.columns, i == 6 ? 24 : 16);
    EXPECT_FLOAT_EQ(matrix.scale, i < 4 ? 0.8f : 0.2f * std::sqrt(24.f));  // 0.2 sqrt(16)
  }
  Json section = golden("muon.json")["optimizer"];
  section["update_scale"] = "aspect";
  const auto aspect = muon_matrices(shape, parse_optimizer(section, 10, "optimizer"));
  EXPECT_FLOAT_EQ(aspect[4].scale, std::sqrt(1.5f));
  EXPECT_FLOAT_EQ(aspect[6].scale, 1);
}

const Json kMuon = {{"train", {{"optimizer", {{"name", "muon"}}}}}};

TEST(Muon, AdamwsColumnsAreAdamwsBitForBit) {
  const Json scenario = small_scenario({{"name", "independent"}}, 1);
  const auto adamw = train(scenario).weights, muon = train(changed(scenario, kMuon)).weights;
  for (std::size_t replica = 0; replica < 4; ++replica)
    for (const Parameter& parameter : parameter_layout(case_of(scenario).train->model)) {
      const std::size_t begin = as_index(parameter.offset);
      const bool is_same = std::memcmp(&adamw[replica][begin], &muon[replica][begin],
                                       as_index(parameter.size()) * sizeof(float)) == 0;
      EXPECT_EQ(is_same, parameter.layer < 0 || parameter.is_norm) << parameter.name;
    }
}

TEST(Muon, LearnsUnderEveryOuterMethod) {
  for (const Json& method : every_method(10)) {
    const Json summary = train(changed(small_scenario(method, 60), kMuon)).summary;
    // The best that knows only how often each token comes stays at the unigram entropy.
    EXPECT_LT(summary["final_loss"].get<double>(), 0.75 * summary["unigram_entropy"].get<double>()) << method;
  }
}

}  // namespace longhaul::muon_test
