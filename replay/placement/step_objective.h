// What a placement of the stages of all replicas costs: an estimate of the time of a step, from the paths
// between the sites alone.
//
//   step = P + Σ over operations of (how many of the steps post it) · X
//
//   P   the passes of all micro-batches (cost_graph.h), of the slowest replica. With random routing all
//       replicas together, along paths drawn for a few steps with a seed of their own, so that no placement
//       is fitted to the draws of a case; the mean over these steps. Routing by throughput is taken as
//       random.
//   X   of a blocking operation: max over its stages of (its stage's last worker has no pass left + T) − P.
//       It begins when a stage has no pass left, so that an early stage's, which is the last to finish, hurts
//       most. Of one that overlaps with d steps: max over its stages of T − d · P, at least 0.
//   T   of one exchange among the workers of a stage: a ring by ring_round_s() (net/site_tour.h), each other
//       collective by its rounds (cost_graph.h). Buckets follow each other. Where groups or targets are
//       drawn (sites included) every message of a group takes the mean over all pairs of the stage's workers;
//       groups of a grid are those of its first rounds.
//
// Compute is the mean step time times the worker's factor; "measured" times are not known yet, and count as
// 0. Not in it: links that connections share, start-up of windows, variation, overrides, unequal beginnings
// of an exchange, what of it the backward pass hides, the codecs' own time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/plan/operations.h"
#include "core/scenario/case.h"
#include "replay/placement/cost_graph.h"
#include "replay/placement/search.h"
#include "replay/placement/site_paths.h"

namespace longhaul {

class StepObjective {
 public:
  // All must outlive it. The plan has stages.
  StepObjective(const Case& config, const OperationPlan& plan, const SitePaths& paths);
  ~StepObjective();

  // `site_of`: by worker. seconds: of a step.
  PlaceCost cost(const std::vector<int>& site_of);
  // Messages and passes that were evaluated so far.
  std::int64_t evaluated() const { return evaluated_; }

 private:
  class StageExchange;
  // An operation of the method: one exchange of each of its stages.
  struct MethodOperation {
    double share = 0;       // of the steps that post it
    int overlap_steps = 0;  // 0: it blocks
    std::vector<std::unique_ptr<StageExchange>> stages;
  };
  struct Passes {
    std::vector<double> ends_s;     // by worker, from the begin of the step
    double last_s = 0, mean_s = 0;  // over replicas
  };

  void add_operations(const Case& config);
  Passes passes(const std::vector<int>& site_of);
  Passes straight_passes(const std::vector<int>& site_of);
  Passes drawn_passes(const std::vector<int>& site_of);
  void add_cost(MethodOperation& operation, const std::vector<int>& site_of, const Passes& passes,
                PlaceCost& cost);

  const OperationPlan& plan_;
  const SitePaths& paths_;
  int replicas_, stages_;
  std::vector<double> model_s_;                            // by worker
  std::vector<StepPasses> step_passes_;                    // by drawn step
  std::map<std::vector<int>, std::vector<double>> known_;  // of a replica that goes straight: sites, ends
  bool are_replicas_alike_ = true;
  std::vector<MethodOperation> operations_;
  std::int64_t evaluated_ = 0;
};

}  // namespace longhaul
