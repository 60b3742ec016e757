// Gradients of micro-batches on random paths, in float64: those of the sum of all replicas' losses with
// respect to the columns of each replica.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "tests/unit/trainer/float64/slope.h"
#include "tests/unit/trainer/random_model.h"
#include "trainer/model/cpu_decoder.h"
#include "trainer/pipeline/microbatches.h"

namespace longhaul::paths_test {

constexpr int kReplicas = 3, kMicrobatches = 2, kStep = 4;
constexpr std::uint64_t kSeed = 11;
constexpr ModelShape kShape{4, 3, 2, 3, 5, 5};
constexpr ModelShape kDeepShape{4, 5, 2, 3, 5, 5};

PipelinePlan three_stages() {
  PipelineSpec spec;
  spec.stages = 3;
  spec.microbatches = kMicrobatches;
  spec.routing = MicrobatchRouting::kRandom;
  return pipeline_plan(spec, kShape, kShape.parameters(), kMicrobatches * kShape.context, Wire::kFp32);
}

using Rows = std::vector<std::vector<double>>;  // by replica

// `gradients` [replicas, columns] are the slopes of `sum` with respect to the rows.
void expect_slopes(Rows& rows, const std::vector<double>& gradients, const std::function<double()>& sum,
                   double width = 1e-3) {
  for (std::size_t replica = 0; replica < rows.size(); ++replica)
    for (std::size_t i = 0; i < rows[replica].size(); ++i) {
      const double expected = slope(rows[replica][i], sum, width);
      ASSERT_NEAR(gradients[replica * rows[replica].size() + i], expected, 1e-10 + 1e-7 * std::abs(expected))
          << "replica " << replica << ", column " << i;
    }
}

// Drawn rows and batches, and the gradients that all micro-batches of a step leave.
struct Trial {
  Trial(const ModelShape& shape, int replicas, std::uint64_t seed)
      : columns(shape.parameters()), decoder(shape), gradients(as_index(replicas * columns), 123.) {
    for (int replica = 0; replica < replicas; ++replica) {
      rows.push_back(random_weights<double>(shape, seed + static_cast<std::uint64_t>(replica)));
      batches.push_back(random_batch(shape, kMicrobatches, seed + 10 + static_cast<std::uint64_t>(replica)));
    }
  }

  // The sum of their losses.
  double run(const PipelinePlan& plan) {
    std::vector<double> weights;
    for (const std::vector<double>& row : rows) weights.insert(weights.end(), row.begin(), row.end());
    const MicrobatchPass<double> pass(plan, columns,
                                      [&](const double* w, double* gradient, const Batch& batch) {
                                        return decoder.loss_and_gradient(w, gradient, batch);
                                      });
    double sum = 0;
    for (int m = 0; m < kMicrobatches; ++m) {
      const std::vector<Route> paths = paths_of(plan, kSeed, static_cast<int>(rows.size()), kStep, m);
      for (std::size_t home = 0; home < rows.size(); ++home)
        sum += pass.run(paths[home], m, batches[home], {weights.data(), 0, columns},
                        {gradients.data(), 0, columns}) /
               kMicrobatches;
    }
    return sum;
  }

  std::int64_t columns;
  float64::CpuDecoder decoder;
  Rows rows;
  std::vector<Batch> batches;
  std::vector<double> gradients;
};

// Written apart from the product's: which replica has the column on this path, by looking it up.
double sum_of_losses(const float64::CpuDecoder& decoder, const PipelinePlan& plan, const Rows& rows,
                     const std::vector<Batch>& batches) {
  double sum = 0;
  for (int m = 0; m < kMicrobatches; ++m) {
    const std::vector<Route> paths = paths_of(plan, kSeed, kReplicas, kStep, m);
    for (std::size_t home = 0; home < rows.size(); ++home) {
      std::vector<double> met(rows[home].size());
      for (std::size_t i = 0; i < met.size(); ++i) {
        std::size_t part = 0;
        while (static_cast<std::int64_t>(i) >= plan.parts[part].columns.end) ++part;
        met[i] = rows[static_cast<std::size_t>(paths[home][part].replica)][i];
      }
      const Batch& all = batches[home];
      const auto length = static_cast<std::ptrdiff_t>(kShape.context) + 1;
      const Batch batch{1, {all.tokens.begin() + m * length, all.tokens.begin() + (m + 1) * length}};
      sum += decoder.loss(met.data(), batch) / kMicrobatches;
    }
  }
  return sum;
}

TEST(Float64Paths, GradientsAreTheFiniteDifferencesTo1e7) {
  const PipelinePlan plan = three_stages();
  Trial trial(kShape, kReplicas, 20);
  std::set<int> used;  // replicas on the paths that do not begin there
  for (int m = 0; m < kMicrobatches; ++m) {
    const std::vector<Route> paths = paths_of(plan, kSeed, kReplicas, kStep, m);
    for (int home = 0; home < kReplicas; ++home)
      for (const Stop& stop : paths[as_index(home)])
        if (stop.replica != home) used.insert(stop.replica);
  }
  EXPECT_EQ(used.size(), 3u) << "draws that leave everyone at home show nothing";
  const auto sum = [&] { return sum_of_losses(trial.decoder, plan, trial.rows, trial.batches); };
  EXPECT_NEAR(trial.run(plan), sum(), 1e-13 * sum());
  expect_slopes(trial.rows, trial.gradients, sum);
}

// Written apart: a model of the layers alone that a micro-batch meets, each from its replica, in its order.
double loss_of_met_layers(const PipelinePlan& plan, const Rows& rows, const Route& path, const Batch& batch) {
  ModelShape shape = kDeepShape;
  shape.layers = 0;
  std::vector<double> weights;
  const auto append = [&](const Stop& stop, std::int64_t begin, std::int64_t end) {
    const std::vector<double>& row = rows[static_cast<std::size_t>(stop.replica)];
    weights.insert(weights.end(), row.begin() + begin, row.begin() + end);
  };
  for (const Stop& stop : path) {
    if (!stop.is_there()) continue;
    const PipelinePart& part = plan.parts[static_cast<std::size_t>(stop.part)];
    append(stop, part.columns.begin, part.columns.end);
    shape.layers += part.end_layer - part.first_layer;
  }
  return float64::CpuDecoder(shape).loss(weights.data(), batch);
}

// Five stages of one layer each; of the three in the middle each micro-batch leaves one out, and may swap the
// others.
TEST(Float64Paths, PartialOnesHaveTheGradientsOfTheModelTheyMeet) {
  for (const MicrobatchRouting routing : {MicrobatchRouting::kStraight, MicrobatchRouting::kRandom})
    for (const PartialPaths partial : {PartialPaths::kScheduled, PartialPaths::kRandom}) {
      PipelineSpec spec;
      spec.stages = 5;
      spec.microbatches = kMicrobatches;
      spec.routing = routing;
      spec.skip = 1;
      spec.reorders = true;
      spec.partial = partial;
      const PipelinePlan plan = pipeline_plan(spec, kDeepShape, kDeepShape.parameters(),
                                              kMicrobatches * kDeepShape.context, Wire::kFp32);
      Trial trial(kDeepShape, 2, 40);
      int swapped = 0;
      for (int m = 0; m < kMicrobatches; ++m)
        for (const Route& path : paths_of(plan, kSeed, 2, kStep, m))
          for (int place = 0; place < 5; ++place)
            swapped += path[as_index(place)].is_there() && path[as_index(place)].part != place;
      EXPECT_TRUE(swapped > 0 || partial == PartialPaths::kScheduled);
      const auto sum_of_met = [&] {
        double sum = 0;
        for (int m = 0; m < kMicrobatches; ++m) {
          const std::vector<Route> paths = paths_of(plan, kSeed, 2, kStep, m);
          for (std::size_t home = 0; home < 2; ++home)
            sum += loss_of_met_layers(plan, trial.rows, paths[home],
                                      microbatch_of(trial.batches[home], m, kMicrobatches)) /
                   kMicrobatches;
        }
        return sum;
      };
      for (int replica = 0; replica < 2; ++replica)
        clear_for_partial(plan, trial.columns, trial.gradients.data() + replica * trial.columns);
      EXPECT_NEAR(trial.run(plan), sum_of_met(), 1e-13 * sum_of_met());
      // An embedding's norm is small, and what is left of the fourth order not.
      expect_slopes(trial.rows, trial.gradients, sum_of_met, 2.5e-4);
    }
}

}  // namespace longhaul::paths_test
