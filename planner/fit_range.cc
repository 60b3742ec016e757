#include "planner/fit_range.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/scenario/scenario.h"
#include "planner/extrapolation.h"

namespace longhaul {
namespace {

// The choice where the network's unknowns are at an end of an axis.
Case at_end(const Evaluation& choice, const Json& end) {
  Case config = choice.config;
  for (const auto& [path, value] : end.items())
    if (path.rfind("network.", 0) == 0) assign_in_scenario(config.resolved, path, value, "fit.axes");
  config.network = parse_network(config.resolved.at("network"), config.workers(), config.folder);
  config.network.rank_order = choice.config.network.rank_order;
  return config;
}

}  // namespace

double fit_half_width_s(const PlanRequest& plan, const Evaluation& choice, const PlanTools& tools) {
  const Json axes = member(member(plan.written, "fit"), "axes");
  if (!axes.is_array()) return 0;
  std::vector<Case> cases;
  std::vector<std::string> names;
  for (const Json& pair : axes) {
    if (!pair.is_array() || pair.size() != 2)
      throw InputError("fit.axes", "found " + pair.dump(), "pairs of {dotted key: value}",
                       "as longhaul fit writes them");
    for (const Json& end : pair) {
      cases.push_back(at_end(choice, end));
      names.push_back(fmt::format("the fit's end {}", names.size() + 1));
    }
  }
  const std::vector<TrainingTime> times = times_of(cases, tools, names, "what the fit leaves open");
  double squares = 0;
  for (std::size_t i = 0; i + 1 < times.size(); i += 2) {
    const double half = (times[i + 1].total_s - times[i].total_s) / 2;
    squares += half * half;
  }
  return std::sqrt(squares);
}

}  // namespace longhaul
