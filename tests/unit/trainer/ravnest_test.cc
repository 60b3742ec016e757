// Ravnest: by hand, and against stages that keep old versions of their weights, as its authors' code does.
#include <algorithm>
#include <cmath>

#include "tests/unit/trainer/operation_support.h"
#include "tests/unit/trainer/support.h"

namespace longhaul::ravnest_test {

// One replica, whose update knows the method's plan of a model of so many columns.
struct Bench : UpdateBench {
  Bench(const MethodSpec& spec, std::int64_t columns)
      : UpdateBench(spec, 1, columns), plan(method_named("ravnest").plan(spec, {columns, {}})) {
    update->follow(plan, {});
  }
  OperationPlan plan;
};

TEST(Ravnest, IsTheOneWorkedOutByHand) {
  const Json history = golden("ravnest.json");
  Bench bench(method_with("ravnest", history["method"]), 1);
  const OptimizerSpec optimizer = parse_optimizer(history["optimizer"], 10, "optimizer");
  const std::vector<DecayRange> decay = {{0, 1, true}};
  float* weight = bench.arena.row(Slot::kWeights, 0);
  *weight = history["start"];
  int step = 0;
  for (const Json& row : history["steps"]) {
    *bench.arena.row(Slot::kGradient, 0) = *weight;
    EXPECT_TRUE(bench.update->optimize({++step, step, optimizer.lr, 1, optimizer, decay}, 0, bench.arena));
    EXPECT_NEAR(*weight, row["theta"].get<double>(), 1e-6) << step;
  }
}

// The loss of batch t couples all columns: (Σ c_i θ_i − b_t)²/2.
constexpr int kColumns = 7;
using Row = std::vector<double>;

Row gradient_of(const Row& theta, int batch) {
  double residual = -std::sin(1.7 * batch);
  for (int i = 0; i < kColumns; ++i) residual += (1 + 0.3 * i) * theta[as_index(i)];
  Row gradient(kColumns);
  for (int i = 0; i < kColumns; ++i) gradient[as_index(i)] = (1 + 0.3 * i) * residual;
  return gradient;
}

double lr_at(int step) {
  return 0.02 / (1 + 0.05 * step);
}

// A stage as the paper's: it keeps all versions of its columns. Batch m goes forward and back through version
// m − 1 − d, and its gradient makes version m.
struct Stage {
  int begin, end, delay;
  std::vector<Row> versions;  // [updates][end - begin]
  Row first, second;
};

void train_on(std::vector<Stage>& stages, int batch, const OptimizerSpec& spec) {
  Row seen;
  for (const Stage& stage : stages) {
    const Row& version = stage.versions[as_index(std::max(0, batch - 1 - stage.delay))];
    seen.insert(seen.end(), version.begin(), version.end());
  }
  const Row gradient = gradient_of(seen, batch);
  for (Stage& stage : stages) {
    double squares = 0;
    for (int i = stage.begin; i < stage.end; ++i) squares += std::pow(gradient[as_index(i)], 2);
    const double clip = std::min(1., spec.clip / std::sqrt(squares)), lr = lr_at(batch + stage.delay);
    Row theta = stage.versions.back();
    for (std::size_t i = 0; i < theta.size(); ++i) {
      const double g = clip * gradient[as_index(stage.begin) + i];
      stage.first[i] = spec.beta1 * stage.first[i] + (1 - spec.beta1) * g;
      stage.second[i] = spec.beta2 * stage.second[i] + (1 - spec.beta2) * g * g;
      const double m = stage.first[i] / (1 - std::pow(spec.beta1, batch)),
                   v = stage.second[i] / (1 - std::pow(spec.beta2, batch));
      theta[i] -= lr * spec.weight_decay * theta[i] + lr * m / (std::sqrt(v) + 1e-8);
    }
    stage.versions.push_back(theta);
  }
}

void expect_as_with_versions(const MethodSpec& spec, const std::vector<int>& bounds,
                             const std::vector<int>& delays) {
  constexpr int kSteps = 40;
  OptimizerSpec optimizer;
  optimizer.beta2 = 0.99;
  optimizer.weight_decay = 0.1;
  optimizer.clip = 1.5;
  Row start(kColumns);
  for (int i = 0; i < kColumns; ++i) start[as_index(i)] = std::cos(i);
  std::vector<Stage> stages;
  for (std::size_t s = 0; s < delays.size(); ++s) {
    const Row own(start.begin() + bounds[s], start.begin() + bounds[s + 1]), zero(own.size());
    stages.push_back({bounds[s], bounds[s + 1], delays[s], {own}, zero, zero});
  }
  for (int batch = 1; batch <= kSteps; ++batch) train_on(stages, batch, optimizer);

  Bench bench(spec, kColumns);
  const std::vector<DecayRange> decay = {{0, kColumns, true}};
  float* weights = bench.arena.row(Slot::kWeights, 0);
  std::copy(start.begin(), start.end(), weights);
  for (int step = 1; step <= kSteps; ++step) {
    const Row gradient = gradient_of(Row(weights, weights + kColumns), step);
    std::copy(gradient.begin(), gradient.end(), bench.arena.row(Slot::kGradient, 0));
    ASSERT_TRUE(bench.update->has_own_optimizer()) << "without delay it is the replica's AdamW";
    ASSERT_TRUE(bench.update->optimize({step, step, lr_at(step), 1, optimizer, decay}, 0, bench.arena));
    for (const Stage& stage : stages)
      for (int i = stage.begin; i < stage.end; ++i)
        ASSERT_NEAR(weights[i],
                    stage.versions[as_index(std::max(0, step - stage.delay))][as_index(i - stage.begin)],
                    2e-5)
            << "step " << step << ", column " << i;
  }
}

TEST(Ravnest, IsStagesThatKeepOldVersionsOfTheirWeights) {
  expect_as_with_versions(method_with("ravnest", {{"stages", 3}}), {0, 2, 4, 7}, {2, 1, 0});
  expect_as_with_versions(method_with("ravnest", {{"stages", 2}}), {0, 3, 7}, {1, 0});
  expect_as_with_versions(method_with("ravnest", {{"delay", 1}}), {0, 7}, {1});
  expect_as_with_versions(method_with("ravnest", {{"delay", 5}}), {0, 7}, {5});
}

}  // namespace longhaul::ravnest_test
