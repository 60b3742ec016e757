// A model whose boundaries lie in a subspace: the weights of a training, and what passes a boundary.
#include "trainer/pipeline/subspace.h"

#include <cmath>
#include <numeric>

#include "tests/unit/trainer/support.h"
#include "trainer/model/decoder.h"

namespace longhaul::subspace_test {

const ModelShape kShape{16, 4, 2, 24, 8, 40};
constexpr int kRank = 5;

PipelinePlan plan_of_two_stages() {
  PipelineSpec spec;
  spec.stages = 2;
  spec.boundary.subspace = kRank;
  return pipeline_plan(spec, kShape, kShape.parameters(), 64, Wire::kBf16);
}

Subspace subspace_of(const std::vector<float>& weights, std::uint64_t seed = 3) {
  return Subspace(kShape, plan_of_two_stages(), kRank, seed, weights);
}

// Of a vector the part outside span(U), by its definition.
std::vector<double> outside(const std::vector<float>& basis, const std::vector<double>& vector) {
  std::vector<double> rest = vector;
  for (int c = 0; c < kRank; ++c) {
    double along = 0;
    for (std::size_t i = 0; i < vector.size(); ++i) along += basis[i * kRank + as_index(c)] * vector[i];
    for (std::size_t i = 0; i < vector.size(); ++i) rest[i] -= basis[i * kRank + as_index(c)] * along;
  }
  return rest;
}

double length(const std::vector<double>& vector) {
  return std::sqrt(std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.));
}

// Every column of a projection into the stream, and every row of E − E₀, before the last part.
void expect_inside(const ModelShape& shape, const Subspace& subspace, const std::vector<float>& fixed,
                   const float* row, int constrained_layers) {
  for (const Parameter& parameter : parameter_layout(shape)) {
    const bool is_embedding = parameter.name == "embedding";
    const bool projects = parameter.writes_residual && parameter.layer < constrained_layers;
    if (!is_embedding && !projects) continue;
    const std::int64_t vectors = is_embedding ? parameter.rows : parameter.columns;
    for (std::int64_t v = 0; v < vectors; ++v) {
      std::vector<double> vector(16);
      for (std::int64_t i = 0; i < 16; ++i) {
        const std::int64_t at = parameter.offset + (is_embedding ? v * 16 + i : i * parameter.columns + v);
        vector[as_index(i)] = row[at] - (is_embedding ? static_cast<double>(fixed[as_index(at)]) : 0.);
      }
      EXPECT_LT(length(outside(subspace.basis(), vector)), 1e-6 + 1e-5 * length(vector))
          << parameter.name << ", " << v;
    }
  }
}

// A second time changes nothing, which is so where the basis, drawn from the seed, is orthonormal.
TEST(Subspace, ProjectsWhatWritesTheStreamBeforeTheLastPart) {
  const std::vector<float> weights = initial_weights(kShape, 1);
  std::vector<float> row = initial_weights(kShape, 2);
  const std::vector<float> before = row;
  const Subspace subspace = subspace_of(weights);
  EXPECT_EQ(subspace.basis(), subspace_of(weights).basis());
  EXPECT_NE(subspace.basis(), subspace_of(weights, 4).basis());
  subspace.project(row.data());
  expect_inside(kShape, subspace, weights, row.data(), 2);
  for (const Parameter& parameter : parameter_layout(kShape)) {
    const bool is_free = parameter.name != "embedding" && !(parameter.writes_residual && parameter.layer < 2);
    const std::int64_t begin = parameter.offset, end = begin + parameter.size();
    EXPECT_EQ(std::equal(row.begin() + begin, row.begin() + end, before.begin() + begin), is_free)
        << parameter.name;
  }
  std::vector<float> again = row;
  subspace.project(again.data());
  for (std::size_t i = 0; i < row.size(); ++i) EXPECT_NEAR(again[i], row[i], 1e-6);
}

Json scenario_of(const Json& method, const Json& pipeline) {
  return changed(small_scenario(method, 12, "fp32"), {{"train", {{"batch", 4}}}, {"pipeline", pipeline}});
}

// With as many dimensions as the model is wide nothing is constrained, but to rounding.
TEST(Subspace, OfAllDimensionsConstrainsNothing) {
  const auto loss_with = [](const Json& more) -> double {
    return train(scenario_of({{"name", "ddp"}}, changed({{"stages", 2}}, more))).summary["final_loss"];
  };
  const int hidden = small_scenario({{"name", "ddp"}})["train"]["model"]["hidden"];
  const double expected = loss_with(Json::object()), same = loss_with({{"subspace", hidden}}),
               other = loss_with({{"subspace", 2}});
  EXPECT_NEAR(same, expected, 1e-4 * expected);
  EXPECT_GT(std::abs(other - expected), 1e-3 * expected);
}

// After averages in pairs along random paths: what passes the boundary has no more than its coordinates.
TEST(Subspace, ATrainingStaysInside) {
  const Json noloco = {{"name", "noloco"}, {"inner_steps", 4}},
             pipeline = {{"stages", 2}, {"microbatches", 2}, {"routing", "random"}, {"subspace", kRank}};
  const auto& [folder, config] = CaseInFolder(scenario_of(noloco, pipeline));
  const ModelShape& shape = config.train->model;
  const Trained trained = train(config, folder);
  const std::vector<float> fixed = initial_weights(shape, config.seed);
  const Subspace subspace(shape, trained_plan_of(config).pipeline, kRank, config.seed, fixed);
  for (const std::vector<float>& weights : trained.weights)
    expect_inside(shape, subspace, fixed, weights.data(), 1);
}

// Coordinates and ids forward, coordinates back: a training that sends no more has the bytes of the plan.
TEST(Subspace, BytesFollow) {
  const PipelinePlan plan = plan_of_two_stages();
  EXPECT_EQ(plan.forward_bytes, (std::vector<std::int64_t>{64 * (5 * 2 + 2)}));
  EXPECT_EQ(plan.backward_bytes, (std::vector<std::int64_t>{64 * 5 * 2}));
}

}  // namespace longhaul::subspace_test
