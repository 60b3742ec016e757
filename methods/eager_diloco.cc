// Eager updates (arXiv 2502.12996): DiLoCo whose all-reduce overlaps with the H inner steps of the next
// round. A replica takes its outer step with its own Δ of this round and with those of the others of the
// round before.
#include "core/base/errors.h"
#include "methods/common/compression.h"
#include "methods/common/late_updates.h"

namespace longhaul {
namespace eager_diloco {

std::vector<Node> options() {
  std::vector<Node> all = {
      inner_steps_option(100),
      integer("delay").at_least(0).at_most(1).by_default(1).in("rounds").means(
          "rounds by which the others' Δ are late; 0: none is, and this is diloco"),
      number("outer_lr").above(0).by_default(0.4).means("outer learning rate η"),
      number("outer_momentum").at_least(0).at_most(1).by_default(0.9).means("outer momentum μ (Nesterov)")};
  for (Node& option : compression_options()) all.push_back(std::move(option));
  for (Node& option : all_reduce_options())
    if (option.key == "all_reduce") all.push_back(std::move(option));
  all.push_back(reduction_option());
  return all;
}

// At step H nothing has arrived yet: the first outer step is a local one.
OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  const int every = method.options.at("inner_steps");
  OperationRule outer;
  outer.name = "outer";
  outer.collective = method.options.at("all_reduce");
  outer.every = every;
  outer.payload = whole({"delta"}, model.wire);
  compress(method.options, model, outer);
  if (method.options.at("delay") == 0) return {{outer}};
  outer.overlap_steps = every;
  outer.posts_first = true;
  return {{outer}, {{"first", every, 0, every, every}}};
}

// What one's own Δ of the round before was is in the message that was sent, which EF21 does not hold.
void check(const Case& config) {
  check_inner_steps(config);
  check_compression(config);
  const Json& options = config.method.options;
  if (options.at("error_feedback") == "ef21" && options.at("delay") == 1)
    throw InputError("method.error_feedback", "found \"ef21\" with delay 1", "none or classic");
}

// One's own Δ is not late.
std::vector<std::string> warnings(const Case& config) {
  if (config.method.options.at("delay") == 0) return {};
  return late_update_warnings(config, 1. / config.replicas);
}

}  // namespace eager_diloco

Method eager_diloco_method() {
  using namespace eager_diloco;
  return {"eager-diloco",  "DiLoCo with the others' outer gradients one round late (arXiv 2502.12996)",
          options(),       plan,
          check,           warnings,
          keeps_outer_step};
}

}  // namespace longhaul
