// Gradients of micro-batches on random paths, in float64: the slopes of the sum of all replicas' losses.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/unit/trainer/float64/slope.h"
#include "tests/unit/trainer/random_model.h"
#include "trainer/model/cpu_decoder.h"
#include "trainer/pipeline/microbatches.h"

namespace longhaul::paths_test {

constexpr int kMicrobatches = 2, kStep = 4;
constexpr std::uint64_t kSeed = 11;
constexpr ModelShape kShape{4, 5, 2, 3, 5, 5};

// Drawn weights and batches, and the gradients that all micro-batches of a step leave.
struct Trial {
  explicit Trial(int replicas) : gradients(as_index(replicas * columns), 123.) {
    for (std::uint64_t replica = 0; replica < as_index(replicas); ++replica) {
      for (const double weight : random_weights<double>(kShape, 40 + replica)) weights.push_back(weight);
      batches.push_back(random_batch(kShape, kMicrobatches, 50 + replica));
    }
  }

  // The sum of their losses.
  double run(const PipelinePlan& plan) {
    const MicrobatchPass<double> pass(plan, columns,
                                      [&](const double* w, double* gradient, const Batch& batch) {
                                        return decoder.loss_and_gradient(w, gradient, batch);
                                      });
    double sum = 0;
    for (int m = 0; m < kMicrobatches; ++m) {
      const std::vector<Route> paths = paths_of(plan, kSeed, static_cast<int>(batches.size()), kStep, m);
      for (std::size_t home = 0; home < batches.size(); ++home)
        sum += pass.run(paths[home], m, batches[home], {weights.data(), 0, columns},
                        {gradients.data(), 0, columns}) /
               kMicrobatches;
    }
    return sum;
  }

  const std::int64_t columns = kShape.parameters();
  const float64::CpuDecoder decoder{kShape};
  std::vector<double> weights;  // [replicas, columns]
  std::vector<Batch> batches;
  std::vector<double> gradients;
};

// Written apart: a model of the layers alone that a micro-batch meets, each from its replica, in its order.
double loss_of_met_layers(const PipelinePlan& plan, const Trial& trial, const Route& path,
                          const Batch& batch) {
  ModelShape shape = kShape;
  shape.layers = 0;
  std::vector<double> weights;
  for (const Stop& stop : path) {
    if (!stop.is_there()) continue;
    const PipelinePart& part = plan.parts[as_index(stop.part)];
    const auto row = trial.weights.begin() + stop.replica * trial.columns;
    weights.insert(weights.end(), row + part.columns.begin, row + part.columns.end);
    shape.layers += part.end_layer - part.first_layer;
  }
  return float64::CpuDecoder(shape).loss(weights.data(), batch);
}

// Five stages of one layer: all, or of the three in the middle each micro-batch leaves one out and may swap.
TEST(Float64Paths, HaveTheGradientsOfTheModelThatTheyMeetTo1e7) {
  constexpr MicrobatchRouting kStraight = MicrobatchRouting::kStraight, kRandom = MicrobatchRouting::kRandom;
  const struct {
    int replicas, skip;
    MicrobatchRouting routing;
    PartialPaths partial;
  } all[] = {{3, 0, kRandom, PartialPaths::kScheduled},
             {2, 1, kStraight, PartialPaths::kScheduled},
             {2, 1, kStraight, PartialPaths::kRandom},
             {2, 1, kRandom, PartialPaths::kScheduled},
             {2, 1, kRandom, PartialPaths::kRandom}};
  for (const auto& of : all) {
    SCOPED_TRACE(&of - all);
    PipelineSpec spec;
    spec.stages = 5;
    spec.microbatches = kMicrobatches;
    spec.routing = of.routing;
    spec.skip = of.skip;
    spec.reorders = of.skip > 0;
    spec.partial = of.partial;
    const PipelinePlan plan =
        pipeline_plan(spec, kShape, kShape.parameters(), kMicrobatches * kShape.context, Wire::kFp32);
    Trial trial(of.replicas);
    const auto paths = [&](int m) { return paths_of(plan, kSeed, of.replicas, kStep, m); };
    int swapped = 0;
    std::set<int> used;  // replicas on the paths that do not begin there
    for (int m = 0; m < kMicrobatches; ++m)
      for (const Route& path : paths(m))
        for (int place = 0; place < 5; ++place) {
          const Stop& stop = path[as_index(place)];
          swapped += stop.is_there() && stop.part != place;
          if (stop.is_there() && stop.replica != path[0].replica) used.insert(stop.replica);
        }
    EXPECT_TRUE(swapped > 0 || of.partial == PartialPaths::kScheduled);
    EXPECT_TRUE(used.size() == 3 || of.skip > 0) << "draws that leave everyone at home show nothing";
    const auto sum_of_met = [&] {
      double sum = 0;
      for (int m = 0; m < kMicrobatches; ++m)
        for (std::size_t home = 0; home < trial.batches.size(); ++home)
          sum += loss_of_met_layers(plan, trial, paths(m)[home],
                                    microbatch_of(trial.batches[home], m, kMicrobatches)) /
                 kMicrobatches;
      return sum;
    };
    for (int replica = 0; replica < of.replicas; ++replica)
      clear_for_partial(plan, trial.columns, trial.gradients.data() + replica * trial.columns);
    EXPECT_NEAR(trial.run(plan), sum_of_met(), 1e-13 * sum_of_met());
    // An embedding's norm is small, and what is left of the fourth order not: therefore the width.
    for (std::size_t i = 0; i < trial.weights.size(); ++i) {
      const double expected = slope(trial.weights[i], sum_of_met, 2.5e-4);
      ASSERT_NEAR(trial.gradients[i], expected, 1e-10 + 1e-7 * std::abs(expected)) << i;
    }
  }
}

}  // namespace longhaul::paths_test
