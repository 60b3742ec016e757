// What waits for what in an exchange, or in the passes of a step: recorded from one run of the replay's own
// engine (exchange_run.h, pipeline_run.h), and evaluated again and again for other sites of the workers.
//
// All workers begin together, and no two messages share a link. An event begins when all that it awaits is
// over. A message takes latency + bytes · time of a byte and does not arrive before an earlier one of the
// same two; one in turn (network.h) leaves when that one has left. A pass takes its share of its worker's
// step. That is fidelity analytic but for its whole nanoseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/plan/pipeline.h"
#include "net/collectives/collective.h"
#include "replay/placement/site_paths.h"

namespace longhaul {

class CostGraph {
 public:
  struct Event {
    int worker = -1, to = -1;  // of a message, its two ends; of a pass, the former
    double amount = 0;         // bytes; of a pass, its share of what the worker takes for the whole model
    int before = 0;            // of a message: the one before of the same two
    bool in_turn = false;
    int after = 0, also = 0;  // events that it awaits, 0: the begin
  };
  struct Times {
    double last_s = 0, mean_s = 0;  // until the last worker is done; the mean over workers
  };

  // Of a collective whose rounds depend on the sites of the members (needs_sites()) only for these sites.
  static CostGraph of_exchange(const Collective& collective, const GroupExchange& exchange);
  // One step of so many replicas, whose worker `stage` has the number replica · stages + stage, on the paths
  // that `seed` draws; of so many of the plan's micro-batches. None leaves parts out, nor is routed by
  // throughput.
  static CostGraph of_passes(const PipelinePlan& plan, int microbatches, int replicas, std::uint64_t seed,
                             int step);

  // `awaited`: events that were added before. Returns its number.
  int add(Event event, const std::vector<int>& awaited);
  void set_ends(std::vector<int> ends) { ends_ = std::move(ends); }  // by worker: its last event

  // `site_of`: by member or worker; `model_s`: by worker, what it would take for one step of the whole model.
  // For each worker the time until its last event is over.
  std::vector<double> ends_s(const std::vector<int>& site_of, const SitePaths& paths,
                             const std::vector<double>& model_s = {});
  Times times(const std::vector<int>& site_of, const SitePaths& paths);

  std::int64_t size() const { return timed_; }  // messages and passes

 private:
  std::vector<Event> events_ = {{}};  // the first is the begin
  std::vector<int> ends_;
  std::vector<double> over_s_;  // by event
  std::int64_t timed_ = 0;
};

// The passes of a step with any number of micro-batches. Of many the first ones are recorded (64, or two for
// each stage), and each further one takes as long as the last quarter of those did on average: by then the
// pipeline is in its steady state.
class StepPasses {
 public:
  StepPasses(const PipelinePlan& plan, int replicas, std::uint64_t seed, int step);

  // As CostGraph's.
  std::vector<double> ends_s(const std::vector<int>& site_of, const SitePaths& paths,
                             const std::vector<double>& model_s);
  std::int64_t size() const { return longer_.size() + (shorter_ ? shorter_->size() : 0); }

 private:
  CostGraph longer_;
  std::optional<CostGraph> shorter_;  // without the last quarter; where not all are recorded
  double further_ = 0;                // quarters behind those recorded
};

}  // namespace longhaul
