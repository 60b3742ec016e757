// GASLoC's plan on each graph, and where it is stable: by iterating the recursion and its second moments, and
// by hand.
#include "methods/gasloc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/said.h"
#include "tests/unit/methods/one_case.h"

namespace longhaul::gasloc_test {

Json gasloc_on(const char* graph, Json more = Json::object()) {
  more.update({{"name", "gasloc"}, {"graph", graph}});
  return more;
}

Case case_of(const Json& method, int replicas = 8) {
  return one_case(
      {{"replicas", replicas}, {"methods", {method}}, {"workload", {{"parameters", 1000}, {"steps", 100}}}});
}

void check(const Case& config) {
  method_named(config.method.name).check(config);
}

// P = 1000, two bytes each.
TEST(Gasloc, SendsItsWeightsAloneToEachNeighbour) {
  for (const auto& [graph, neighbours] :
       {std::pair{"matching", 0}, {"two-matchings", 2}, {"ring", 2}, {"expander", 4}, {"complete", 0}}) {
    const Case config = case_of(gasloc_on(graph));
    EXPECT_NO_THROW(check(config)) << graph;
    const OperationPlan plan = plan_of(config);
    ASSERT_EQ(plan.rules.size(), 1u);
    EXPECT_EQ(plan.rules[0].tensors(), (std::vector<std::string>{"weights"})) << graph;
    EXPECT_EQ(plan.rules[0].every, 50);
    EXPECT_TRUE(plan.rules[0].is_blocking());
    const std::vector<Operation> operations = operations_at(plan, plan_context(config), 100);
    ASSERT_EQ(operations.size(), 1u);
    EXPECT_EQ(operations[0].bytes, 2000) << graph;
    ASSERT_EQ(operations[0].targets.size(), neighbours == 0 ? 0u : 8u) << graph;
    for (const std::vector<int>& targets : operations[0].targets)
      EXPECT_EQ(static_cast<int>(targets.size()), neighbours) << graph;
  }
}

// A pair's bytes are half of NoLoCo's, and its pairs are NoLoCo's.
TEST(Gasloc, MeetsNolocosPairsWithHalfTheBytes) {
  const Case mine = case_of(gasloc_on("matching")), other = case_of({{"name", "noloco"}});
  const OperationPlan plan = plan_of(mine), noloco = plan_of(other);
  for (const int step : {50, 100}) {
    const Operation found = operations_at(plan, plan_context(mine), step).at(0),
                    expected = operations_at(noloco, plan_context(other), step).at(0);
    EXPECT_EQ(found.groups, expected.groups);
    EXPECT_EQ(2 * found.bytes, expected.bytes);
    EXPECT_EQ(found.rule->collective, expected.rule->collective);
  }
}

TEST(Gasloc, WithARateOfOneTheWeightsAreWhatIsSent) {
  EXPECT_TRUE(plan_of(case_of(gasloc_on("ring", {{"eta", 1}}))).local.empty());
  const OperationPlan plan = plan_of(case_of(gasloc_on("ring", {{"eta", 0.7}})));
  ASSERT_EQ(plan.local.size(), 1u);
  EXPECT_FALSE(is_taken_at(plan.local[0], 49));
  EXPECT_TRUE(is_taken_at(plan.local[0], 50));
  EXPECT_FALSE(is_taken_at(plan.local[0], 51));
  EXPECT_TRUE(is_taken_at(plan.local[0], 100));
}

TEST(Gasloc, TheAllReduceIsThatOfTheCompleteGraph) {
  EXPECT_EQ(plan_of(case_of(gasloc_on("complete", {{"all_reduce", "tree"}}))).rules[0].collective, "tree");
  EXPECT_EQ(plan_of(case_of(gasloc_on("matching", {{"all_reduce", "tree"}}))).rules[0].collective, "pair");
}

TEST(Gasloc, AGraphNeedsItsNeighbours) {
  for (const auto& [graph, least] :
       {std::pair{"matching", 2}, {"two-matchings", 3}, {"ring", 3}, {"expander", 5}, {"complete", 2}}) {
    EXPECT_NO_THROW(check(case_of(gasloc_on(graph), least))) << graph;
    const InputError error = thrown_by([&, g = graph, n = least] { check(case_of(gasloc_on(g), n - 1)); });
    EXPECT_EQ(error.parts().path, least == 2 ? "replicas" : "method.graph") << error.what();
  }
}

// Roots of z² − (1 + γ − αλ) z + γ, by iterating it.
bool decays(double alpha, double gamma, double eigenvalue) {
  double now = 1, before = 0.7;
  for (int step = 0; step < 20000 && std::abs(now) < 1e9; ++step) {
    const double next = (1 + gamma - alpha * eigenvalue) * now - gamma * before;
    before = now, now = next;
  }
  return std::abs(now) < 1e-3;
}

// Of the ring the largest eigenvalue over all N, (2 − 2 cos(2π m/N))/3; of the complete graph 1.
TEST(GaslocStability, OfAFixedGraphIsThatOfItsLargestEigenvalue) {
  for (const double gamma : {0., 0.3, 0.9}) {
    for (const int replicas : {3, 4, 5, 8, 101}) {
      double largest = 0;
      for (int m = 0; m < replicas; ++m)
        largest = std::max(largest, (2 - 2 * std::cos(2 * M_PI * m / replicas)) / 3);
      const double bound = gasloc_alpha_bound("ring", gamma, replicas);
      EXPECT_TRUE(decays(0.99 * bound, gamma, largest)) << gamma << ", " << replicas;
      EXPECT_FALSE(decays(1.01 * bound, gamma, largest)) << gamma << ", " << replicas;
    }
    EXPECT_DOUBLE_EQ(gasloc_alpha_bound("complete", gamma, 8), 2 * (1 + gamma));
    EXPECT_DOUBLE_EQ(gasloc_alpha_bound("ring", gamma, 4), 1.5 * (1 + gamma)) << "λ = 4/3";
  }
}

// E|x(t)|², E⟨x(t), x(t − 1)⟩ and E|x(t − 1)|² with E Λ = E Λ² = k: how much they grow a step in the long
// run.
double growth(double alpha, double gamma, double k) {
  double now = 1, product = 0, before = 0, size = 1;
  for (int step = 0; step < 5000; ++step) {
    now /= size, product /= size, before /= size;
    const double kept = 1 + gamma - alpha * k;
    const double next = (std::pow(1 + gamma, 2) - 2 * (1 + gamma) * alpha * k + alpha * alpha * k) * now -
                        2 * gamma * kept * product + gamma * gamma * before;
    before = std::exchange(now, next);
    product = kept * before - gamma * product;
    size = std::abs(now) + std::abs(product) + std::abs(before);
  }
  return size;
}

TEST(GaslocStability, OfDrawnGraphsIsWhereTheirMomentsStopShrinking) {
  for (const double gamma : {0., 0.3, 0.5, 0.9})
    for (const auto& [graph, replicas, k] : {std::tuple{"matching", 8, 4. / 7},
                                             {"matching", 5, 2. / 4},
                                             {"two-matchings", 8, 8 * 2. / 3 / 7},
                                             {"two-matchings", 5, 5 * 2. / 3 / 4},
                                             {"expander", 8, 8 * 4. / 5 / 7}}) {
      const double bound = gasloc_alpha_bound(graph, gamma, replicas);
      EXPECT_LT(growth(0.99 * bound, gamma, k), 1) << graph << ", " << gamma;
      EXPECT_GT(growth(1.01 * bound, gamma, k), 1) << graph << ", " << gamma;
    }
  // 2 · 0.75/(1.5 − 4/7), and of many replicas 1.5/(1.5 − 1/2).
  EXPECT_NEAR(gasloc_alpha_bound("matching", 0.5, 8), 1.615385, 1e-6);
  EXPECT_NEAR(gasloc_alpha_bound("matching", 0.5, 1000000), 1.5, 1e-5);
  EXPECT_NEAR(gasloc_alpha_bound("expander", 0, 8), 2, 1e-12) << "whatever the graph";
  EXPECT_NEAR(growth(0.5, 0.5, 0.5), 0.652, 5e-4) << "the defaults, with many replicas";
  EXPECT_NEAR(growth(0.3, 0.5, 0.5), 0.625, 5e-4);
  EXPECT_NEAR(growth(1, 0, 0.5), 0.5, 1e-9) << "a pair's mean halves the disagreement";
}

// The graph of a draw is what the closed forms say: traces of Λ and Λ² alike, so that E Λ = E Λ².
TEST(GaslocStability, TheDrawnGraphsHaveTheTracesOfTheBound) {
  for (const auto& [graph, degree] : {std::pair{"two-matchings", 2}, {"expander", 4}})
    for (const int replicas : {5, 6, 8, 13}) {
      const Case config = case_of(gasloc_on(graph), replicas);
      const OperationPlan plan = plan_of(config);
      const Operation operation = operations_at(plan, plan_context(config), 50).at(0);
      const double weight = 1. / (degree + 1);
      double trace = 0, of_square = 0;  // of a symmetric matrix: the sum of its squares
      for (const std::vector<int>& neighbours : operation.targets) {
        const double diagonal = weight * static_cast<double>(neighbours.size());
        trace += diagonal;
        of_square += diagonal * diagonal + static_cast<double>(neighbours.size()) * weight * weight;
      }
      EXPECT_NEAR(trace, replicas * degree / (degree + 1.), 1e-9) << graph;
      EXPECT_NEAR(of_square, trace, 1e-9) << graph;
    }
}

TEST(GaslocStability, CheckRefusesWhatGrows) {
  const auto refusal = [](const char* graph, double alpha, double gamma, int replicas = 8) {
    return refused_with([&] {
      check(case_of(gasloc_on(graph, {{"alpha", alpha}, {"gamma", gamma}}), replicas));
    });
  };
  EXPECT_EQ(refusal("matching", 1.6, 0.5), "");
  EXPECT_SAYS(refusal("matching", 1.62, 0.5), "method.alpha: found 1.62");
  EXPECT_EQ(refusal("complete", 2.99, 0.5), "");
  EXPECT_SAYS(refusal("complete", 3, 0.5), "method.alpha");
  EXPECT_EQ(refusal("ring", 2.24, 0.5), "");
  EXPECT_SAYS(refusal("ring", 2.25, 0.5), "method.alpha");
  for (const char* graph : {"matching", "two-matchings", "ring", "expander", "complete"})
    EXPECT_SAYS(refusal(graph, 0.01, 1), "method.gamma: found 1");
  const std::string said = said_by([] {
    check(case_of(gasloc_on("matching", {{"alpha", 1}, {"gamma", 0.9}})));
  });
  EXPECT_SAYS(said, "below 0.436065");  // 0.38/(1.9 − 1.8 · 4/7) = 0.43606…
  EXPECT_SAYS(said, "between 8 replicas");
}

TEST(Gasloc, TakesFewerStepsOnSlowReplicas) {
  const Case config = one_case(
      {{"replicas", 4},
       {"methods", {gasloc_on("ring", {{"inner_steps", 8}, {"dynamic_steps", true}})}},
       {"workload", {{"parameters", 1000}, {"steps", 16}, {"step_time_factors", {{"1", 2}, {"2-3", 4}}}}}});
  EXPECT_EQ(warning_of(config), "");
  EXPECT_EQ(plan_of(config).dynamic_steps.taken, (std::vector<int>{8, 4, 2, 2}));
}

}  // namespace longhaul::gasloc_test
