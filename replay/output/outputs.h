// What a replay tells while it runs and at its end. Who listens keeps of it what it needs: the tables of a
// run (tables.h), or the few times that a plan asks for (replayed_times.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/json.h"
#include "core/scenario/case.h"
#include "net/topology.h"
#include "replay/network/network.h"
#include "replay/output/fault_rows.h"
#include "replay/output/rollout_rows.h"
#include "replay/output/rows.h"
#include "replay/pipeline/pipeline_run.h"
#include "replay/pipeline/rebalance.h"

namespace longhaul {

// How a replay ended.
struct ReplayEnd {
  const std::vector<ReplicaTotals>& totals;  // by worker
  const Topology& topology;
  const std::vector<LinkLoad>& loads;  // by direction
  std::int64_t transfers = 0;
  std::uint64_t events = 0;                   // of the simulator
  std::optional<SegmentCount> segments = {};  // where the network counts them

  // The latest clock.
  double simulated_s() const;
};

// What is not overridden is dropped. With stages the member `replica` of a row is a worker.
class ReplayOutputs {
 public:
  virtual ~ReplayOutputs() = default;

  // The network that the replay is to send over, so that messages can be watched.
  virtual std::unique_ptr<Network> observed(std::unique_ptr<Network> network, const Clock& /*clock*/) {
    return network;
  }
  // The first of `step`, step + 1, … whose clocks are wanted (add_step(), add_pipeline()); at most the last
  // one of all. Steps in which nothing but compute happens are one event up to it.
  virtual int next_recorded(int step) const = 0;
  bool records(int step) const { return next_recorded(step) == step; }

  virtual void add_exchange(int /*step*/, int /*rule*/, const ExchangeRow&) {}
  // What a replica sent for an operation after its row was added.
  virtual void add_bytes(int /*step*/, int /*rule*/, int /*replica*/, std::int64_t /*more*/) {}
  virtual void add_step(int /*step*/, const StepRow&) {}
  virtual void add_schedule(const ScheduleRow&) {}
  virtual void add_schedule(const MergeRow&) {}
  // Of a plan with stages.
  virtual void add_pipeline(int /*step*/, const PipelineRow&) {}
  // Times since training began.
  virtual void add_task(int /*step*/, const TaskTimes&) {}
  // Of a plan with a step graph. Those of a step are complete with close_collectives().
  virtual void add_collective(int /*step*/, const CollectiveRow&) {}
  virtual void close_collectives(int /*step*/) {}
  // Where workers may change their stages; moves come in their order.
  virtual void open_moves() {}
  virtual void add_move(const MoveTimes&) {}

  // No more rows come of steps below `step`, and of operations that were awaited below it.
  virtual void close(int /*step*/) {}
  // Where replicas may be gone: there are rows of those who are there.
  virtual void expect_absences() {}
  // Totals say what was lost too.
  virtual void expect_lost_work() {}
  // Where times decide what the training of the case does.
  virtual void expect_training(const Case&) {}
  virtual void add_absence(const AbsenceRow&) {}
  // An operation that failed for all of its group. `step_share`: what that throws away of its step's
  // gradients, 1 if those of all workers; 0 where it is of no gradients.
  virtual void note_discarded(double /*step_share*/) {}
  // Of a case with rollouts.
  virtual void write_rollouts(const RolloutRows&) {}
  // Of a case with faults.
  virtual void write_faults(const std::vector<FaultRow>&) {}

  // Called last. Returns what replay.json holds.
  virtual Json finish(const ReplayEnd& end) = 0;
};

}  // namespace longhaul
