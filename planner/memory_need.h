// What a training needs of an accelerator's memory besides activations.
#pragma once

#include <string>

#include "core/scenario/case.h"
#include "planner/plan_request.h"

namespace longhaul {

// Of one accelerator, bytes. Mixed precision with AdamW: 18 bytes a parameter (ZeRO, arXiv 1910.02054,
// section 3.1, with gradients in float32), cut over the accelerators of a node.
struct MemoryNeed {
  double weights = 0;      // bf16 copy 2, float32 master 4
  double gradients = 0;    // 4
  double optimizer = 0;    // two moments 8
  double outer_state = 0;  // of the method: 4 for each row that it keeps (core/plan/kept_rows.h)
  // Of one sequence with every layer computed again: (2 · layers + 34) · context · hidden (arXiv 2205.05198);
  // 0 where the shape is not known.
  double sequence = 0;
  double available = 0;  // 0: not known
  std::string where;     // " at Oslo", where sites have accelerators of their own

  double with_outer_state() const { return weights + gradients + optimizer + outer_state; }
  double without_outer_state() const { return with_outer_state() - outer_state; }
  bool fits() const { return available == 0 || without_outer_state() + sequence <= available; }
  double share() const { return available > 0 ? (without_outer_state() + sequence) / available : 0; }
  // The outer state may lie in the host's memory between two outer steps.
  bool needs_host() const { return available > 0 && with_outer_state() + sequence > available; }
};

// Where sites have accelerators of their own, of those that are filled the most.
MemoryNeed memory_need(const PlanRequest& plan, const Case& config);

// "35.7 GB of 80 GB an accelerator: weights 7.2, …".
std::string memory_in_words(const MemoryNeed& need);

}  // namespace longhaul
