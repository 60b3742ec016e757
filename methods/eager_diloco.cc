// Eager updates (arXiv 2502.12996): DiLoCo whose all-reduce overlaps with the H inner steps of the next
// round. A replica takes its outer step with its own Δ of this round and with those of the others of the
// round before.
#include "methods/eager_diloco.h"

#include <fmt/core.h>

#include <cmath>

#include "core/units.h"
#include "methods/common/method.h"

namespace longhaul {
namespace {

std::vector<Node> options() {
  std::vector<Node> all = {
      inner_steps_option(100),
      integer("delay").at_least(0).at_most(1).by_default(1).in("rounds").means(
          "rounds by which the others' Δ are late; 0: none is, and this is diloco"),
      number("outer_lr").above(0).by_default(0.4).means("outer learning rate η"),
      number("outer_momentum").at_least(0).at_most(1).by_default(0.9).means("outer momentum μ (Nesterov)")};
  for (Node& option : all_reduce_options())
    if (option.key == "all_reduce") all.push_back(std::move(option));
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
  if (method.options.at("delay") == 0) return {{outer}};
  outer.overlap_steps = every;
  outer.posts_first = true;
  return {{outer}, {{"first", every, 0, every, every}}};
}

std::vector<std::string> warnings(const Case& one) {
  const Json& options = one.method.options;
  const double lr = options.at("outer_lr"), momentum = options.at("outer_momentum");
  if (options.at("delay") == 0) return {};
  const double bound = eager_outer_lr_bound(momentum, one.replicas);
  if (lr < bound) return {};
  return {fmt::format(
      "{}: outer_lr {} is not below {}, where late outer gradients swing up at outer_momentum {} with {} "
      "replicas, of which only one's own is not late",
      one.name, format_number(lr), format_number(std::floor(bound * 100) / 100), format_number(momentum),
      one.replicas)};
}

// Jury's criterion for z³ + a z² + b z + c.
bool is_stable(double a, double b, double c) {
  return 1 + a + b + c > 0 && 1 - a + b - c > 0 && std::abs(c) < 1 && 1 - c * c > std::abs(c * a - b);
}

}  // namespace

double eager_outer_lr_bound(double momentum, int replicas) {
  const double fresh = 1. / replicas, late = 1 - fresh, m = momentum;
  double stable = 0, unstable = 4;
  while (unstable - stable > 1e-9) {
    const double lr = (stable + unstable) / 2;
    const bool holds =
        is_stable(-(1 + m) + lr * fresh * (1 + m), m + lr * (late * (1 + m) - fresh * m), -lr * late * m);
    (holds ? stable : unstable) = lr;
  }
  return stable;
}

Method eager_diloco_method() {
  return {"eager-diloco",    "DiLoCo with the others' outer gradients one round late (arXiv 2502.12996)",
          options(),         plan,
          check_inner_steps, warnings};
}

}  // namespace longhaul
