// Local SGD (arXiv 1805.09767): H inner steps, then every replica goes on from the mean of all weights. The
// inner optimizer's state stays local.
#include "methods/common/method.h"

namespace longhaul {
namespace {

std::vector<Node> options() {
  std::vector<Node> all = {inner_steps_option(50)};
  for (Node& option : all_reduce_options()) all.push_back(std::move(option));
  return all;
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule rule;
  rule.name = "average";
  rule.collective = method.options.at("all_reduce");
  rule.every = method.options.at("inner_steps");
  rule.payload = whole({"weights"}, model.wire);
  overlap(method.options, rule);
  return {{rule}};
}

}  // namespace

Method local_sgd_method() {
  return {"local-sgd",       "mean of all weights every H steps (arXiv 1805.09767)",
          options(),         plan,
          check_inner_steps, overlap_warnings};
}

}  // namespace longhaul
