// GASLoC's outer step: by hand, how the disagreement decays by the spectrum of the graph, and what it is on
// the complete graph and with a rate of one.
#include "methods/gasloc.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "core/plan/target_graphs.h"
#include "tests/unit/trainer/compared_trainings.h"
#include "tests/unit/trainer/operation_support.h"

namespace longhaul::gasloc_test {

const Slot kProposal{"proposal"};

Json options(double alpha, double gamma, double eta = 1, const char* graph = "matching") {
  return {{"alpha", alpha}, {"gamma", gamma}, {"eta", eta}, {"graph", graph}};
}

// What a training does at an outer step.
void take(UpdateBench& bench, const Operation& operation, double eta = 1) {
  std::vector<int> all;
  for (int replica = 0; replica < bench.arena.replicas(); ++replica) all.push_back(replica);
  if (eta != 1) bench.runner.take({"propose"}, all);
  bench.runner.run(operation);
}

OperationRule pairs() {
  OperationRule rule = rule_for({"weights"});
  rule.grouping = Grouping::kRandom;
  rule.group_size = 2;
  return rule;
}

OperationRule to_targets(int neighbours) {
  OperationRule rule = rule_for({"weights"});
  rule.kind = OperationKind::kSend;
  rule.grouping = Grouping::kTargets;
  rule.group_size = neighbours;
  return rule;
}

TEST(Gasloc, IsTheHistoryWorkedOutByHand) {
  const Json history = golden("gasloc.json"), start = history["start"];
  UpdateBench bench({"gasloc", "", history["method"]}, 3, 1);
  bench.set(Slot::kSlowWeights, start["phi"]);
  bench.set(kProposal, start["proposal"]);
  const OperationRule rule = pairs();
  int step = 0;
  for (const Json& one : history["steps"]) {
    bench.set(Slot::kWeights, one["theta"]);
    take(bench, {&rule, ++step, step, one["groups"], 0}, 0.5);
    expect_near(bench.table(Slot::kSlowWeights), one["phi"], "phi");
    expect_near(bench.table(kProposal), one["proposal"], "proposal");
    EXPECT_EQ(bench.table(Slot::kWeights), bench.table(Slot::kSlowWeights));
  }
}

// The mean over replicas, column by column.
std::vector<double> mean_of(const UpdateBench& bench) {
  std::vector<double> mean(as_index(bench.arena.parameters()));
  for (int replica = 0; replica < bench.arena.replicas(); ++replica)
    for (std::size_t i = 0; i < mean.size(); ++i)
      mean[i] += double{bench.arena.row(Slot::kWeights, replica)[i]} / bench.arena.replicas();
  return mean;
}

// The variance over replicas, mean over columns.
double disagreement(const UpdateBench& bench) {
  const std::vector<double> mean = mean_of(bench);
  double sum = 0;
  for (int replica = 0; replica < bench.arena.replicas(); ++replica)
    for (std::size_t i = 0; i < mean.size(); ++i)
      sum += std::pow(bench.arena.row(Slot::kWeights, replica)[i] - mean[i], 2);
  return sum / bench.arena.replicas() / static_cast<double>(mean.size());
}

// The m-th cosine on the ring is an eigenvector of Λ with λ = (2 − 2 cos(2π m/N))/3. With the roots r and s
// of z² − (1 + γ − αλ) z + γ it is multiplied by x(t), x(0) = 1 and x(1) = 1 − αλ: u(−1) = θ(0).
TEST(GaslocConsensus, OnARingEachModeDecaysByItsEigenvalue) {
  for (const int replicas : {7, 8})
    for (const double gamma : {0., 0.4})
      for (const double alpha : {0.5, 1., 1.4}) {
        const int modes = replicas / 2;
        UpdateBench bench({"gasloc", "", options(alpha, gamma, 1, "ring")}, replicas, modes);
        std::vector<float> table;
        const auto cosine = [replicas](int replica, int mode) {
          return std::cos(2 * M_PI * mode * replica / replicas);
        };
        for (int replica = 0; replica < replicas; ++replica)
          for (int mode = 1; mode <= modes; ++mode)
            table.push_back(static_cast<float>(cosine(replica, mode)));
        bench.set(Slot::kWeights, table);
        bench.update->start(bench.all);
        const OperationRule rule = to_targets(2);
        for (int step = 1; step <= 12; ++step) {
          take(bench, {&rule, step, step, {}, 0, ring_targets(replicas)});
          for (int mode = 1; mode <= modes; ++mode) {
            const double pull = alpha * (2 - 2 * cosine(1, mode)) / 3, sum = 1 + gamma - pull;
            const std::complex<double> root = std::sqrt(std::complex<double>(sum * sum - 4 * gamma)),
                                       r = (sum + root) / 2., s = (sum - root) / 2.,
                                       share = (1 - pull - s) / (r - s);
            const double left = (share * std::pow(r, step) + (1. - share) * std::pow(s, step)).real();
            for (int replica = 0; replica < replicas; ++replica)
              EXPECT_NEAR(bench.arena.row(Slot::kWeights, replica)[mode - 1], left * cosine(replica, mode),
                          3e-6)
                  << "N " << replicas << ", mode " << mode << ", step " << step << ", α " << alpha << ", γ "
                  << gamma;
          }
        }
      }
}

// Of the slowest mode on the ring, what is left after each of `rounds` rounds.
std::vector<double> left_on_a_ring(int replicas, double alpha, double gamma, int rounds) {
  UpdateBench bench({"gasloc", "", options(alpha, gamma, 1, "ring")}, replicas, 1);
  std::vector<float> cosine;
  for (int replica = 0; replica < replicas; ++replica)
    cosine.push_back(static_cast<float>(std::cos(2 * M_PI * replica / replicas)));
  bench.set(Slot::kWeights, cosine);
  bench.update->start(bench.all);
  const OperationRule rule = to_targets(2);
  std::vector<double> left;
  for (int step = 1; step <= rounds; ++step) {
    take(bench, {&rule, step, step, {}, 0, ring_targets(replicas)});
    left.push_back(bench.arena.row(Slot::kWeights, 0)[0]);
  }
  return left;
}

// On the ring χ, one over the least eigenvalue, is 20, 312, 4980 and 79680 for 16 to 1024 replicas. With the
// best α and γ of a quadratic between the least and the largest eigenvalue (Polyak 1964) the slowest mode
// falls to a tenth, for good, in 10, 40, 158 and 634 rounds: four times as many for sixteen times the χ.
// Without momentum the best α needs 31, 479, 7646 and 122318: sixteen times as many. (Both by the recursion
// of a single mode in Python.)
TEST(GaslocConsensus, OnARingMomentumNeedsTheRootOfTheRounds) {
  constexpr double kLargest = 4. / 3;
  struct Ring {
    int replicas, with, without;
  };
  for (const auto& [replicas, with, without] :
       {Ring{16, 10, 31}, {64, 40, 479}, {256, 158, 7646}, {1024, 634, 122318}}) {
    SCOPED_TRACE(replicas);
    const double least = (2 - 2 * std::cos(2 * M_PI / replicas)) / 3, root = std::sqrt(kLargest / least),
                 gamma = std::pow((root - 1) / (root + 1), 2),
                 alpha = std::pow(1 + std::sqrt(gamma), 2) / kLargest;
    ASSERT_LT(alpha, gasloc_alpha_bound("ring", gamma, replicas));
    const std::vector<double> left = left_on_a_ring(replicas, alpha, gamma, with + 20);
    EXPECT_GT(std::abs(left[as_index(with - 2)]), 0.1);
    for (std::size_t i = as_index(with - 1); i < left.size(); ++i) EXPECT_LE(std::abs(left[i]), 0.1) << i;

    const double plain_alpha = 2 / (least + kLargest);
    const int rounds = std::min(without, 500);
    const std::vector<double> plain = left_on_a_ring(replicas, plain_alpha, 0, rounds);
    const double kept = std::log1p(-plain_alpha * least);
    EXPECT_NEAR(std::log(plain.back()), rounds * kept, 0.01);
    EXPECT_EQ(std::ceil(std::log(0.1) / kept), without);
  }
}

// E|x(t)|², E⟨x(t), x(t − 1)⟩ and E|x(t − 1)|² of the deviations x, on drawn graphs with E Λ = E Λ² = k.
struct Moments {
  double now, product, before;
};

Moments after_step(const Moments& m, double alpha, double gamma, double k) {
  const double kept = 1 + gamma - alpha * k,
               square = std::pow(1 + gamma, 2) - 2 * (1 + gamma) * alpha * k + alpha * alpha * k;
  return {square * m.now - 2 * gamma * kept * m.product + gamma * gamma * m.before,
          kept * m.now - gamma * m.product, m.now};
}

struct DrawnGraph {
  const char* name;
  int replicas, neighbours;
  double k;
};

Operation drawn(const DrawnGraph& graph, const OperationRule& rule, std::uint64_t seed, int step) {
  if (graph.neighbours == 1) return {&rule, step, step, random_groups(seed, graph.replicas, 2, step), 0};
  return {&rule, step, step, {}, 0, cycle_targets(seed, graph.replicas, graph.neighbours / 2, step)};
}

// The mean over 3000 draws, with and without momentum, on either side of the bound. Of pairs without momentum
// and with α = 1 that is (1 − k)^t.
TEST(GaslocConsensus, OnDrawnGraphsTheMomentsAreThoseOfTheSpectrum) {
  constexpr int kSteps = 4, kColumns = 16;
  constexpr std::uint64_t kSeeds = 3000;
  for (const DrawnGraph& graph : {DrawnGraph{"matching", 8, 1, 4. / 7},
                                  {"matching", 5, 1, 2. / 4},
                                  {"two-matchings", 8, 2, 8 * 2. / 3 / 7},
                                  {"expander", 8, 4, 8 * 4. / 5 / 7}}) {
    const OperationRule rule = graph.neighbours == 1 ? pairs() : to_targets(graph.neighbours);
    const double bound = gasloc_alpha_bound(graph.name, 0.5, graph.replicas);
    for (const auto& [alpha, gamma] :
         {std::pair{1., 0.}, {0.5, 0.5}, {0.9 * bound, 0.5}, {1.2 * bound, 0.5}}) {
      std::vector<double> found(kSteps + 1);
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        UpdateBench bench({"gasloc", "", options(alpha, gamma)}, graph.replicas, kColumns);
        bench.set(Slot::kWeights, normal_row(graph.replicas * kColumns, seed));
        bench.update->start(bench.all);
        found[0] += disagreement(bench);
        for (int step = 1; step <= kSteps; ++step) {
          take(bench, drawn(graph, rule, seed, step));
          found[as_index(step)] += disagreement(bench);
        }
      }
      Moments expected{found[0], found[0], found[0]};  // u(−1) = θ(0)
      for (int step = 1; step <= kSteps; ++step) {
        expected = after_step(expected, alpha, gamma, graph.k);
        EXPECT_NEAR(found[as_index(step)] / expected.now, 1, 0.03)
            << graph.name << ", " << graph.replicas << ", step " << step << ", α " << alpha << ", γ "
            << gamma;
      }
      if (graph.neighbours == 1 && gamma == 0) {
        EXPECT_NEAR(expected.now / found[0], std::pow(1 - graph.k, kSteps), 1e-9);
      }
    }
  }
}

// The mean over replicas, of any graph and where some are missing: the weights of both ends are alike.
TEST(GaslocConsensus, KeepsTheMeanAlsoWhereOneIsMissing) {
  UpdateBench bench({"gasloc", "", options(0.8, 0)}, 6, 40);
  bench.set(Slot::kWeights, normal_row(6 * 40, 3));
  bench.update->start(bench.all);
  const std::vector<double> before = mean_of(bench);
  const OperationRule rule = to_targets(2);
  std::vector<std::vector<int>> targets = ring_targets(6);
  targets[2] = {};
  targets[1] = {0};
  targets[3] = {4};
  take(bench, {&rule, 1, 1, {}, 0, targets});
  const std::vector<double> after = mean_of(bench);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-6);
}

TEST(Gasloc, EqualReplicasStayEqualWhateverTheWireFormatIs) {
  UpdateBench bench({"gasloc", "", options(0.5, 0.5)}, 2, 1);
  bench.set(Slot::kWeights, {0.1f, 0.1f});  // on no grid
  bench.update->start(bench.all);
  OperationRule rule = pairs();
  rule.payload = whole({"weights"}, Wire::kBf16);
  take(bench, {&rule, 1, 1, {{0, 1}}, 0});
  EXPECT_EQ(bench.table(Slot::kWeights), (std::vector<float>{0.1f, 0.1f}));
}

// All Δ are ones and halves, so nothing is rounded: γ = 0 and α = 1 are DiLoCo without momentum, to the byte.
TEST(GaslocOnTheCompleteGraph, WithoutMomentumIsDilocosStepToTheByte) {
  UpdateBench mine({"gasloc", "", options(1, 0, 0.5, "complete")}, 4, 3),
      diloco({"diloco", "", {{"outer_lr", 0.5}, {"outer_momentum", 0}, {"nesterov", true}}}, 4, 3);
  for (UpdateBench* bench : {&mine, &diloco}) {
    bench->set(Slot::kWeights, std::vector<float>(12, 2));
    bench->update->start(bench->all);
  }
  const OperationRule weights = rule_for({"weights"}), delta = rule_for({"delta"});
  for (int step = 1; step <= 3; ++step) {
    for (UpdateBench* bench : {&mine, &diloco}) {
      std::vector<float> moved = bench->table(Slot::kWeights);
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += static_cast<float>(i * step % 7) / 4 - 0.5f;
      bench->set(Slot::kWeights, moved);
    }
    take(mine, {&weights, step, step, {}, 0}, 0.5);
    diloco.run(delta, step);
    EXPECT_EQ(mine.table(Slot::kWeights), diloco.table(Slot::kWeights)) << step;
  }
  EXPECT_NE(mine.table(Slot::kWeights)[1], 2) << "they moved";
}

// γ = μ, η = η: the replicas' mean takes DiLoCo's Nesterov step, whatever α, and where all move alike each
// replica does.
TEST(GaslocOnTheCompleteGraph, TheMeanTakesDilocosNesterovStep) {
  constexpr int kReplicas = 4;
  constexpr std::size_t kColumns = 200;
  for (const double alpha : {1., 0.4})
    for (const bool alike : {false, true}) {
      UpdateBench mine({"gasloc", "", options(alpha, 0.8, 0.6, "complete")}, kReplicas, kColumns),
          diloco({"diloco", "", {{"outer_lr", 0.6}, {"outer_momentum", 0.8}, {"nesterov", true}}}, kReplicas,
                 kColumns);
      std::vector<float> start;
      for (int replica = 0; replica < kReplicas; ++replica)
        for (const float value : normal_row(kColumns, 1)) start.push_back(value);
      for (UpdateBench* bench : {&mine, &diloco}) {
        bench->set(Slot::kWeights, start);
        bench->update->start(bench->all);
      }
      const OperationRule weights = rule_for({"weights"}), delta = rule_for({"delta"});
      for (int step = 1; step <= 5; ++step) {
        std::vector<float> changes = normal_row(kReplicas * kColumns, 2, static_cast<std::uint32_t>(step));
        for (float& change : changes) change *= 0.1f;
        for (std::size_t i = kColumns; alike && i < changes.size(); ++i) changes[i] = changes[i % kColumns];
        for (UpdateBench* bench : {&mine, &diloco}) {
          std::vector<float> moved = bench->table(Slot::kWeights);
          for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += changes[i];
          bench->set(Slot::kWeights, moved);
        }
        take(mine, {&weights, step, step, {}, 0}, 0.6);
        diloco.run(delta, step);
        const std::vector<double> mean = mean_of(mine);
        const float* expected = diloco.arena.row(Slot::kWeights, 0);
        for (std::size_t i = 0; i < kColumns; ++i) EXPECT_NEAR(mean[i], expected[i], 2e-6) << step;
        if (!alike) continue;
        for (int replica = 0; replica < kReplicas; ++replica)
          for (std::size_t i = 0; i < kColumns; ++i)
            EXPECT_NEAR(mine.arena.row(Slot::kWeights, replica)[i], expected[i], 2e-6) << step;
      }
      EXPECT_EQ(disagreement(mine) < 1e-12, alike) << "the momentum of each is its own";
    }
}

Json by_four_steps(const char* name, Json more = Json::object()) {
  more.update({{"name", name}, {"inner_steps", 4}});
  return more;
}

Json gasloc(const Json& more) {
  return by_four_steps("gasloc", more);
}

Trained trained(const Json& method, int steps = 13, int replicas = 4) {
  return train(changed(small_scenario(method, steps, "fp32"), {{"replicas", replicas}}));
}

// Δ is rounded where it is small and u where the weights are, so bytes differ; one outer step by 1e-6 of the
// weights, later ones by what the inner optimizer makes of that.
TEST(TrainedGasloc, OnTheCompleteGraphWithoutMomentumIsDiloco) {
  const Json mine = gasloc(options(1, 0, 0.6, "complete")),
             diloco = by_four_steps("diloco", {{"outer_lr", 0.6}, {"outer_momentum", 0}});
  const Trained found = trained(mine, 4), expected = trained(diloco, 4);
  ASSERT_EQ(found.weights.size(), expected.weights.size());
  for (std::size_t replica = 0; replica < found.weights.size(); ++replica) {
    EXPECT_EQ(found.weights[replica], found.weights[0]) << "all have the mean";
    for (std::size_t i = 0; i < found.weights[replica].size(); ++i)
      EXPECT_NEAR(found.weights[replica][i], expected.weights[replica][i], 1e-6);
  }
  expect_losses(trained(mine), trained(diloco), 2e-5, "gasloc is diloco");
  EXPECT_NE(trained(gasloc(options(1, 0.5, 0.6, "complete"))).metrics, trained(mine).metrics);
}

// With η = 1 u is θ, and with α = 1 and γ = 0 its mean is what comes.
TEST(TrainedGasloc, WithARateOfOneAndNoMomentumItAveragesWeightsToTheBit) {
  for (const int replicas : {4, 5}) {
    EXPECT_EQ(trained(gasloc(options(1, 0, 1, "complete")), 13, replicas).metrics,
              trained(by_four_steps("local-sgd"), 13, replicas).metrics);
    const std::string gossip = trained(by_four_steps("gossip"), 13, replicas).metrics;
    EXPECT_EQ(trained(gasloc(options(1, 0)), 13, replicas).metrics, gossip);
    for (const Json& other : {options(0.9, 0), options(1, 0.1), options(1, 0, 0.9), options(1, 0, 1, "ring")})
      EXPECT_NE(trained(gasloc(other), 13, replicas).metrics, gossip) << other;
  }
}

// Among three all neighbours are all others.
TEST(TrainedGasloc, ARingOfThreeIsTheCompleteGraph) {
  for (const char* graph : {"ring", "two-matchings"})
    EXPECT_EQ(trained(gasloc(options(0.8, 0.5, 0.7, graph)), 13, 3).metrics,
              trained(gasloc(options(0.8, 0.5, 0.7, "complete")), 13, 3).metrics)
        << graph;
}

// Odd numbers on each graph: losses fall, and several threads leave the bits of one.
TEST(TrainedGasloc, OfSevenReplicasOnEachGraph) {
  for (const char* graph : {"matching", "two-matchings", "ring", "expander", "complete"}) {
    const Json scenario =
        changed(small_scenario(gasloc(options(0.5, 0.5, 0.7, graph)), 12, "bf16"), {{"replicas", 7}});
    const Trained loop = train(scenario);
    expect_same(train(scenario, 3), loop, graph);
    const std::vector<double> losses = losses_in(loop.metrics);
    EXPECT_LT(losses.back(), losses.front()) << graph;
  }
}

// A replica that takes fewer steps proposes what they make.
TEST(TrainedGasloc, WithDynamicStepsSlowReplicasTakeFewer) {
  Json scenario = small_scenario(gasloc({{"graph", "ring"}, {"dynamic_steps", true}}), 12);
  scenario["workload"]["step_time_factors"] = {{"1", 2}, {"2-3", 4}};
  const Trained found = train(scenario);
  // Of three rounds of four steps 4, 2, 1 and 1; a step has two sequences of 12 tokens.
  const Trained plain = train(small_scenario(gasloc({{"graph", "ring"}}), 12));
  EXPECT_EQ(found.summary["tokens"].get<int>() * 16, plain.summary["tokens"].get<int>() * 8);
  EXPECT_NE(found.metrics, plain.metrics);
}

}  // namespace longhaul::gasloc_test
