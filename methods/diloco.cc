// DiLoCo (arXiv 2311.08105): H inner steps, then an all-reduce of Δ = θ − φ and an outer step of SGD with
// Nesterov momentum; by option the heavy-ball momentum of the NoLoCo authors' baseline.
#include <fmt/core.h>

#include "core/base/errors.h"
#include "methods/common/compression.h"
#include "methods/common/waiting.h"

namespace longhaul {
namespace diloco {

std::vector<Node> options() {
  return joined(
      {{inner_steps_option(100), number("outer_lr").above(0).by_default(0.7).means("outer learning rate η"),
        number("outer_momentum").at_least(0).at_most(1).by_default(0.9).means("outer momentum μ"),
        boolean("nesterov")
            .by_default(true)
            .means("true: Nesterov look-ahead (DiLoCo); false: heavy-ball (the NoLoCo authors' baseline, "
                   "with outer_momentum 0.3)")},
       compression_options(),
       {reduction_option()},
       quorum_options(true),
       all_reduce_options()});
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule outer = all_reduce_rule("outer", "delta", method.options, model);
  compress(method.options, model, outer);
  outer.completion = fetched_completion_of(method.options);
  return {{outer}};
}

void check(const Case& config) {
  const Json& options = config.method.options;
  if (options.at("error_feedback") == "ef21" && !completion_of(options).is_all())
    throw InputError("method.error_feedback", "found \"ef21\" with a quorum", "none or classic",
                     "the mean of what all have sent holds for the same members alone");
}

std::vector<std::string> warnings(const Case& config) {
  const Json& options = config.method.options;
  if (options.at("nesterov") == true || options.at("outer_momentum") <= 0.5) return {};
  return {fmt::format(
      "{}: heavy-ball momentum of {} without look-ahead; the NoLoCo authors' heavy-ball baseline has 0.3",
      config.name, options["outer_momentum"].dump())};
}

}  // namespace diloco

Method diloco_method() {
  using namespace diloco;
  return Method("diloco", "all-reduce of the outer gradients every H steps (arXiv 2311.08105)", options(),
                plan, {check_inner_steps, check_compression, check_waiting, check},
                {overlap_warnings, warnings}, keeps_outer_step);
}

}  // namespace longhaul
