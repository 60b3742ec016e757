// Local SGD (arXiv 1805.09767): H inner steps, then every replica goes on from the mean of all weights. The
// inner optimizer's state stays local.
//
// With warmup_steps W it is post-local SGD (arXiv 1808.07217) as torch 2.15 runs it: to step W gradients are
// averaged as in DDP (PostLocalSGDState, start_localSGD_iter), and weights after steps W + 1, W + 1 + H, …
// (PeriodicModelAverager, warmup_steps).
#include "methods/common/waiting.h"

namespace longhaul {
namespace local_sgd {

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule rule = all_reduce_rule("average", "weights", method.options, model);
  rule.completion = completion_of(method.options);
  if (method.options.at("warmup_steps") == "none") return {{rule}};
  const int warmup_steps = method.options["warmup_steps"];
  rule.phase = rule.first_step = warmup_steps + 1;
  if (warmup_steps == 0) return {{rule}};
  OperationRule gradient = all_reduce_rule("gradient", "gradient", method.options, model);
  gradient.before_optimizer = true;
  gradient.every = 1;
  gradient.last_step = warmup_steps;
  return {{gradient, rule}};
}

Node warmup_option() {
  return either("warmup_steps", {choice("", {"none"}), integer("").at_least(0)})
      .by_default("none")
      .later()
      .in("steps")
      .means(
          "a number W: post-local SGD as torch runs it, to step W all gradients are averaged in each step, "
          "then weights after steps W + 1, W + 1 + H, …; none: weights after steps H, 2 H, …");
}

}  // namespace local_sgd

Method local_sgd_method() {
  return Method(
      "local-sgd", "mean of all weights every H steps (arXiv 1805.09767)",
      joined({{inner_steps_option(50), local_sgd::warmup_option()}, quorum_options(), all_reduce_options()}),
      local_sgd::plan, {check_inner_steps, check_waiting}, {overlap_warnings});
}

}  // namespace longhaul
