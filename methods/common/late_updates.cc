#include "methods/common/late_updates.h"

#include <fmt/core.h>

#include <cmath>

#include "core/base/units.h"
#include "methods/common/tensors.h"

namespace longhaul {
namespace {

// Jury's criterion for z³ + a z² + b z + c.
bool is_stable(double a, double b, double c) {
  return 1 + a + b + c > 0 && 1 - a + b - c > 0 && std::abs(c) < 1 && 1 - c * c > std::abs(c * a - b);
}

}  // namespace

std::vector<Node> with_outer_all_reduce(std::vector<Node> options, const CompressionDefaults& defaults) {
  return joined(
      {options, compression_options(defaults), {all_reduce_option(), tensors_option(), reduction_option()}});
}

OperationPlan outer_plan(const Json& options, const PlannedModel& model, bool is_late) {
  OperationRule outer{"outer", OperationKind::kAllReduce, options.at("all_reduce"),
                      options.at("inner_steps")};
  outer.payload = whole({"delta"}, model.wire);
  compress(options, model, outer);
  if (!is_late) return {{outer}};
  outer.overlap_steps = outer.every;
  outer.posts_first = true;
  return {{outer}, {{"first", outer.every, 0, outer.every, outer.every}}};
}

double late_outer_lr_bound(double momentum, double fresh) {
  const double late = 1 - fresh, m = momentum;
  double stable = 0, unstable = 4;
  while (unstable - stable > 1e-9) {
    const double lr = (stable + unstable) / 2;
    const bool holds =
        is_stable(-(1 + m) + lr * fresh * (1 + m), m + lr * (late * (1 + m) - fresh * m), -lr * late * m);
    (holds ? stable : unstable) = lr;
  }
  return stable;
}

double late_heavy_ball_lr_bound(double momentum) {
  return 1 - momentum;
}

std::vector<std::string> late_update_warnings(const Case& config, double fresh) {
  return late_update_warnings(config, fresh,
                              late_outer_lr_bound(config.method.options.at("outer_momentum"), fresh));
}

std::vector<std::string> late_update_warnings(const Case& config, double fresh, double bound) {
  const Json& options = config.method.options;
  const double lr = options.at("outer_lr"), momentum = options.at("outer_momentum");
  if (lr < bound) return {};
  return {
      fmt::format("{}: outer_lr {} is not below {}, where late outer gradients swing up at outer_momentum {} "
                  "when {} % of them are not late",
                  config.name, format_number(lr), format_number(std::floor(bound * 100) / 100),
                  format_number(momentum), format_number(std::round(1000 * fresh) / 10))};
}

}  // namespace longhaul
