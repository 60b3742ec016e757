// What a candidate needs of an accelerator's memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan/pipeline.h"
#include "core/scenario/case.h"
#include "planner/plan_request.h"

namespace longhaul {

// Of one accelerator, bytes. Mixed precision with AdamW: 18 bytes a parameter (ZeRO, arXiv 1910.02054,
// section 3.1, with gradients in float32), of the node's stage or of the whole model, cut over the
// accelerators of a node.
struct MemoryNeed {
  double weights = 0;      // bf16 copy 2, float32 master 4
  double gradients = 0;    // 4
  double optimizer = 0;    // two moments 8
  double outer_state = 0;  // of the method: 4 for each row that it keeps (core/plan/operations.h)
  // Of a layer 34 · tokens · hidden where they are kept, and 2 where they are computed again, layer by layer,
  // and those of one layer (arXiv 2205.05198, whose attention is always computed again): of one sequence on
  // each accelerator, or of the micro-batches that the schedule has under way in a stage, cut over a node's
  // accelerators. 0 where the shape is not known.
  double activations = 0, kept_activations = 0;
  double available = 0;           // 0: not known
  std::string where;              // " at Oslo", " in stage 0": where it is of one site or stage
  std::vector<double> of_stages;  // by stage, computed again and with the outer state; empty: one stage

  double with_outer_state() const { return weights + gradients + optimizer + outer_state; }
  double without_outer_state() const { return with_outer_state() - outer_state; }
  bool fits() const { return available == 0 || without_outer_state() + activations <= available; }
  double share() const { return available > 0 ? (without_outer_state() + activations) / available : 0; }
  // The outer state may lie in the host's memory between two outer steps.
  bool needs_host() const { return available > 0 && with_outer_state() + activations > available; }
};

// Where sites have accelerators of their own, of those that are filled the most; of the stage that needs
// most.
MemoryNeed memory_need(const PlanRequest& plan, const Case& config);

// The same of a method that keeps `rows`; `tokens`: of a replica and step.
MemoryNeed memory_need(const PlanRequest& plan, const PipelinePlan& pipeline, std::int64_t tokens,
                       double rows);

// "35.7 GB of 80 GB an accelerator: weights 7.2, …".
std::string memory_in_words(const MemoryNeed& need);

}  // namespace longhaul
