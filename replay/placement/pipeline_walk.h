// How long the passes of one step take, for any sites of the workers: the order of events is worked out once,
// and then walked again and again.
//
// A worker takes its passes in the order of its schedule. A pass begins when the one before is over and what
// it works on has arrived; what it makes leaves when the pass is over and what the worker sent to the same
// one in the same direction before has left, takes bytes · time of a byte to leave, and arrives a latency
// later. With messages that block (pipeline.sends) a pass also waits until the worker's own messages have
// arrived. No two connections share a link. That is what PipelineRun does on the network of fidelity
// analytic.
//
// Of many micro-batches the first ones are walked (64, or two for each stage), and each further one takes as
// long as the last quarter of those did on average: by then the pipeline is in its steady state.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/plan/paths.h"
#include "replay/placement/site_paths.h"

namespace longhaul {

class PipelineWalk {
 public:
  // The paths of a micro-batch, as paths_of() gives them; none leaves a part out.
  using Paths = std::function<std::vector<Route>(int microbatch)>;

  // Of so many replicas, whose worker `stage` has the number replica · stages + stage.
  PipelineWalk(const PipelinePlan& plan, int replicas, const Paths& paths);

  // `site_of`: by worker; `model_s`: by worker, what it would take for one step of the whole model. For each
  // worker the time until its last pass is over, from the begin of the step.
  std::vector<double> ends_s(const std::vector<int>& site_of, const std::vector<double>& model_s,
                             const SitePaths& paths);

  std::int64_t passes() const {
    return static_cast<std::int64_t>(longer_.steps.size() + shorter_.steps.size());
  }

 private:
  struct Step {
    int worker = 0, part = 0;
    bool is_forward = true;
    double share = 0;    // of the worker's time for one step of the whole model, with one device
    int arrival = -1;    // slot of what it works on; -1: it needs no message
    int sends = -1;      // slot of what it makes; -1: nothing
    int to = 0;          // worker
    int connection = 0;  // on which that goes
    double bytes = 0;
  };
  struct Walk {
    int microbatches = 0, slots = 0, connections = 0;
    std::vector<Step> steps;  // so that what one needs stands before it
  };

  Walk walk_of(int microbatches, const Paths& paths) const;
  std::vector<double> walked_s(const Walk& walk, const std::vector<int>& site_of,
                               const std::vector<double>& model_s, const SitePaths& paths);

  PipelinePlan plan_;
  int replicas_;
  Walk longer_, shorter_;                   // the latter empty where all micro-batches are walked
  std::vector<double> arrival_s_, left_s_;  // by slot; by connection
};

}  // namespace longhaul
