// DiLoCoX (arXiv 2506.21263): DiLoCo whose outer gradients arrive a round late, so that the inner steps of a
// whole round hide them, and travel as low-rank factors of four bits with error feedback.
#include "methods/common/compression.h"
#include "methods/common/late_updates.h"

namespace longhaul {
namespace dilocox {

std::vector<Node> options() {
  std::vector<Node> all = {
      inner_steps_option(100), number("outer_lr").above(0).by_default(0.2).means("outer learning rate η"),
      number("outer_momentum").at_least(0).at_most(1).by_default(0.9).means("outer momentum μ (Nesterov)")};
  const Json low_rank = {{"low_rank", {{"rank", 8}, {"factors", "int4"}}}};
  for (Node& option : compression_options({low_rank, "classic", 1})) all.push_back(std::move(option));
  for (Node& option : all_reduce_options())
    if (option.key == "all_reduce") all.push_back(std::move(option));
  all.push_back(reduction_option());
  return all;
}

// At step H nothing has arrived yet: all begin the next round where they began the first.
OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule outer;
  outer.name = "outer";
  outer.collective = method.options.at("all_reduce");
  outer.every = outer.overlap_steps = method.options.at("inner_steps");
  outer.posts_first = true;
  outer.payload = whole({"delta"}, model.wire);
  compress(method.options, model, outer);
  return {{outer}, {{"first", outer.every, 0, outer.every, outer.every}}};
}

void check(const Case& config) {
  check_inner_steps(config);
  check_compression(config);
}

std::vector<std::string> warnings(const Case& config) {
  return late_update_warnings(config, 0);
}

}  // namespace dilocox

Method dilocox_method() {
  using namespace dilocox;
  return {"dilocox",       "DiLoCo with low-rank outer gradients a round late (arXiv 2506.21263)",
          options(),       plan,
          check,           warnings,
          keeps_outer_step};
}

}  // namespace longhaul
