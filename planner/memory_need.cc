#include "planner/memory_need.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/units.h"
#include "core/plan/kept_rows.h"
#include "methods/common/registry.h"

namespace longhaul {
namespace {

MemoryNeed need_of(const NodeHardware& hardware, const PlanRequest& plan, const Case& config) {
  const double each = static_cast<double>(plan.parameters) / hardware.per_node;
  MemoryNeed need;
  need.weights = 6 * each;
  need.gradients = 4 * each;
  need.optimizer = 8 * each;
  const OperationPlan outer = plan_of(config);
  const double elsewhere =
      has_servers(outer) ? 1 - 1. / config.replicas : 0;  // each is the server of its own part
  need.outer_state = 4 * (static_cast<double>(kept_rows(outer).size()) - elsewhere) * each;
  need.available = hardware.memory;
  if (plan.model) need.sequence = (2. * plan.model->layers + 34) * plan.model->context * plan.model->hidden;
  return need;
}

}  // namespace

MemoryNeed memory_need(const PlanRequest& plan, const Case& config) {
  if (plan.sites.empty()) return need_of(plan.hardware, plan, config);
  MemoryNeed tightest;
  for (const PlannedSite& site : plan.sites) {
    MemoryNeed need = need_of(hardware_at(plan, site), plan, config);
    if (site.hardware) need.where = " at " + site.name;
    if (tightest.with_outer_state() == 0 || need.share() > tightest.share()) tightest = need;
  }
  return tightest;
}

std::string memory_in_words(const MemoryNeed& need) {
  std::string words =
      fmt::format("weights {}, gradients {}, optimizer {}, the method's outer state {}: {} an accelerator",
                  human_bytes(need.weights), human_bytes(need.gradients), human_bytes(need.optimizer),
                  human_bytes(need.outer_state), human_bytes(need.with_outer_state()));
  if (need.available > 0) words += fmt::format(" of {}", human_bytes(need.available));
  words += need.where;
  if (need.sequence > 0)
    words += fmt::format("; one sequence of activations, computed again layer by layer, takes {} more",
                         human_bytes(need.sequence));
  else
    words += "; activations are not in it";
  if (!need.fits())
    words += ": it does not fit";
  else if (need.needs_host())
    words += ": it fits with the outer state in the host's memory";
  return words;
}

}  // namespace longhaul
