// GASLoC (arXiv 2606.11081): H inner steps, then weights go to the neighbours on a graph, often one that is
// drawn anew, and each replica is pulled towards what it hears. A momentum on its own iterates accelerates
// the outer step. Only the equation was at hand, and that second hand (docs/reference/methods/gasloc.md).
#include "methods/gasloc.h"

#include <fmt/core.h>

#include <cmath>

#include "core/base/errors.h"
#include "core/base/units.h"
#include "methods/common/dynamic_steps.h"
#include "methods/common/method.h"

namespace longhaul {
namespace gasloc {

struct Graph {
  const char* name;
  int neighbours;  // of each replica; 0: all others
  int replicas;    // at least
};

constexpr Graph kGraphs[] = {
    {"matching", 1, 2}, {"two-matchings", 2, 3}, {"ring", 2, 3}, {"expander", 4, 5}, {"complete", 0, 2}};

const Graph& graph_named(const std::string& name) {
  for (const Graph& graph : kGraphs)
    if (graph.name == name) return graph;
  throw std::logic_error("a graph that gasloc does not know");
}

std::vector<Node> options() {
  std::vector<std::string> graphs;
  for (const Graph& graph : kGraphs) graphs.push_back(graph.name);
  return {
      inner_steps_option(50),
      number("alpha").above(0).by_default(0.5).means(
          "pull α towards the mean of what a replica hears and its own; 1 without gamma: the mean itself"),
      number("gamma").at_least(0).at_most(1).by_default(0.5).means(
          "momentum γ on what the inner steps lead to, below 1; 0: no acceleration"),
      number("eta").above(0).by_default(0.7).means("outer learning rate η on a replica's own change"),
      choice("graph", graphs)
          .by_default("matching")
          .means("who hears whom. matching: random pairs; two-matchings: two others, along a random "
                 "cycle; expander: four others, along two random cycles; these are drawn anew for each "
                 "outer step. ring: both neighbours on the ring of all replicas; complete: all, by an "
                 "all-reduce"),
      dynamic_steps_option(),
      all_reduce_option()};
}

std::vector<std::string> keeps(const Json&) {
  return {kSlowWeightsRow, "proposal"};
}

// Who meets whom, and how their weights travel.
OperationRule rule_on(const Graph& graph, const Json& options) {
  const int every = options.at("inner_steps");
  if (graph.neighbours == 0)
    return {"outer", OperationKind::kAllReduce, options.at("all_reduce").get<std::string>(), every};
  if (graph.neighbours == 1) {
    OperationRule pairs{"outer", OperationKind::kGroupAverage, "pair", every};
    pairs.grouping = Grouping::kRandom;
    pairs.group_size = 2;
    return pairs;
  }
  OperationRule rule{"outer", OperationKind::kSend, "send", every};
  rule.grouping = Grouping::kTargets;
  rule.group_size = graph.neighbours;
  const bool is_ring = std::string("ring") == graph.name;
  rule.target_graph = is_ring ? TargetGraph::kRing : TargetGraph::kCycles;
  return rule;
}

// "propose": θ becomes u, which then is what travels. With η = 1 it is u already.
OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  const Json& options = method.options;
  OperationPlan plan{{rule_on(graph_named(options.at("graph")), options)}};
  OperationRule& outer = plan.rules[0];
  outer.payload = whole({"weights"}, model.wire);
  if (options.at("eta") != 1) plan.local.push_back({"propose", outer.every});
  return plan;
}

void check_graph(const Case& config) {
  const Graph& graph = graph_named(config.method.options.at("graph"));
  if (config.replicas < graph.replicas)
    throw InputError("method.graph",
                     fmt::format("found \"{}\" with {} replicas", graph.name, config.replicas),
                     fmt::format("at least {} replicas, or matching", graph.replicas),
                     fmt::format("each has {} neighbours on it", graph.neighbours));
}

void check_stability(const Case& config) {
  const Json& options = config.method.options;
  const double alpha = options.at("alpha"), gamma = options.at("gamma");
  if (gamma >= 1) throw InputError("method.gamma", "found " + format_number(gamma), "0 or more, below 1");
  const std::string graph = options.at("graph");
  const double bound = gasloc_alpha_bound(graph, gamma, config.replicas);
  if (alpha >= bound)
    throw InputError("method.alpha", "found " + format_number(alpha),
                     fmt::format("above 0, below {:.6g}", std::floor(bound * 1e6) / 1e6),
                     fmt::format("with more the disagreement between {} replicas grows on graph \"{}\" at "
                                 "gamma {}",
                                 config.replicas, graph, format_number(gamma)));
}

}  // namespace gasloc

double gasloc_alpha_bound(const std::string& graph, double gamma, int replicas) {
  if (gamma >= 1) return 0;
  const double half = replicas / 2;  // a whole number
  if (graph == "complete") return 2 * (1 + gamma);
  if (graph == "ring") return 6 * (1 + gamma) / (2 - 2 * std::cos(2 * M_PI * half / replicas));
  const double d = gasloc::graph_named(graph).neighbours;
  const double k = (d == 1 ? half : replicas * d / (d + 1)) / (replicas - 1);
  return 2 * (1 - gamma * gamma) / (1 + gamma - 2 * gamma * k);
}

Method gasloc_method() {
  using namespace gasloc;
  return Method("gasloc",
                "weights to neighbours on a graph every H steps, with an accelerated outer step (arXiv "
                "2606.11081)",
                options(), plan, {check_inner_steps, check_graph, check_stability}, {dynamic_steps_warnings},
                keeps);
}

}  // namespace longhaul
