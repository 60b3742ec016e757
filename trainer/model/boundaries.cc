#include "trainer/model/boundaries.h"

namespace longhaul {

Boundaries boundaries_of(const PipelinePlan& plan, const BoundarySpec& spec) {
  Boundaries boundaries{{}, spec.activations, spec.gradients};
  for (int part = 0; part + 1 < plan.part_count(); ++part)
    boundaries.before.push_back(plan.parts[static_cast<std::size_t>(part)].end_layer);
  return boundaries;
}

}  // namespace longhaul
