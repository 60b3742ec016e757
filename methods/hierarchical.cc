// Two-level averaging: the replicas of a site go on from the mean of their weights every H steps, and at
// every `across_every`-th of these all replicas from the mean of all (low-bandwidth partitioning, arXiv
// 2501.04266, keeps to the fast network inside a site in the same way).
#include <fmt/core.h>

#include "core/base/errors.h"
#include "methods/common/method.h"

namespace longhaul {
namespace hierarchical {

std::vector<Node> options() {
  return with_all_reduce(
      {inner_steps_option(10),
       integer("across_every")
           .at_least(1)
           .by_default(5)
           .in("averages")
           .means("all sites take part in each average whose number is a multiple of it; 1: in all")});
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule rule = all_reduce_rule("average", "weights", method.options, model);
  rule.grouping = Grouping::kTwoLevel;
  rule.across_every = method.options.at("across_every");
  return {{rule}};
}

std::vector<std::string> warnings(const Case& config) {
  const int between = config.method.options.at("inner_steps").get<int>() *
                      config.method.options.at("across_every").get<int>();
  if (between <= config.steps()) return {};
  return {fmt::format("{}: the sites never meet: the first average between them would be after step {} of {}",
                      config.name, between, config.steps())};
}

}  // namespace hierarchical

Method hierarchical_method() {
  using namespace hierarchical;
  return Method("hierarchical",
                "mean of the weights inside each site every H steps, between sites at every k-th of these",
                options(), plan, {check_inner_steps}, {overlap_warnings, warnings});
}

}  // namespace longhaul
