// Moshpit SGD (arXiv 2103.03239): every H steps each replica goes on from the mean of the weights of its
// group. The replicas are a grid of d dimensions with M in each, and groups are taken along one dimension
// after the other, so that d rounds without steps in between would give the mean of all. The paper's peers
// draw their places in the grid and may be missing; here all are there and stay where they are.
#include <fmt/core.h>

#include "core/base/errors.h"
#include "core/base/limits.h"
#include "methods/common/method.h"

namespace longhaul {
namespace moshpit {

std::vector<Node> options() {
  return with_all_reduce(
      {inner_steps_option(50),
       integer("group_size")
           .at_least(2)
           .by_default(2)
           .in("replicas")
           .means("replicas along one dimension of the grid (M); replicas is a power of it")});
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule rule = all_reduce_rule("average", "weights", method.options, model);
  rule.grouping = Grouping::kGrid;
  rule.group_size = method.options.at("group_size");
  return {{rule}};
}

// The first three that can be replicas: the square of a large base is no int.
std::string powers_of(std::int64_t base) {
  std::string words = fmt::format("a power of {0}: {0}", base);
  for (std::int64_t power = base * base, count = 1; count < 3 && power <= kMostReplicas;
       power *= base, ++count)
    words += fmt::format(", {}", power);
  return words;
}

void check(const Case& config) {
  const int base = config.method.options.at("group_size");
  if (grid_dimensions(config.replicas, base) == 0)
    throw InputError("replicas",
                     fmt::format("found {} with a grid of {} in each dimension (method \"{}\")",
                                 config.replicas, base, config.method.label),
                     powers_of(base), "or another method.group_size");
}

}  // namespace moshpit

Method moshpit_method() {
  using namespace moshpit;
  return Method("moshpit",
                "mean of the weights along one dimension of a grid every H steps (arXiv 2103.03239)",
                options(), plan, {check_inner_steps, check}, {overlap_warnings});
}

}  // namespace longhaul
