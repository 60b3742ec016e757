// Which pass a worker of a pipeline takes next, and who goes on with what it made, in one step.
//
//   a schedule      the order of core/plan/pipeline.h: the next pass begins when what it works on is there
//   as they come    where micro-batches leave stages out or take them in another order: backward passes
//                   first; of each replica's own micro-batches as many are under way as there are stages,
//                   which is what 1F1B's first stage has
//   by throughput   as they come, each to the worker that its sender chooses (replay/pipeline/wiring.h). It
//   cannot
//                   know what comes, so that a worker is done when all of its stage are
//
// Where stage 0 has other workers than at first, whichever of them can begin a micro-batch takes the next one
// of all, since data need not travel.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/index.h"
#include "core/plan/paths.h"
#include "core/plan/trace.h"
#include "replay/network/clock.h"
#include "replay/pipeline/wiring.h"
#include "replay/work/stage_assignment.h"

namespace longhaul {

// What a worker works on: a micro-batch of replica `home`, at a place of its path.
struct PipelinePass {
  PipelineTask task;
  int home = 0, place = 0;
  double free_s = -1;  // when it would be there, did messages take no time; negative: it is under way
};

// Of the tasks of a step, from 0.
inline std::size_t task_number(const PipelinePlan& plan, const PipelineTask& task) {
  return as_index((task.part * plan.microbatches + task.microbatch) * 2 + (task.is_forward ? 0 : 1));
}

class PassOrder {
 public:
  explicit PassOrder(const PipelinePlan& plan) : plan_(plan) {}
  virtual ~PassOrder() = default;

  virtual void enter(int) {}  // the worker has come to the step
  virtual void arrive(int worker, const PipelinePass& pass) = 0;
  // The pass that it begins now; none where it has to wait.
  virtual std::optional<PipelinePass> take(int worker) = 0;
  virtual bool is_last(int worker) const { return is_done(worker); }  // what it took, as far as it can know
  virtual bool is_done(int worker) const = 0;                         // it takes no more
  virtual int receiver(int /*from*/, const PipelinePass& /*made*/, const Stop& stop) {
    return worker_of(stop.replica, plan_.stage_of(stop.part), plan_.stages);
  }
  // A pass is over; and what it made is on its way, at `free_s` of the worker's free clock.
  virtual void end(int, const PipelinePass&) {}
  virtual void pass_on(int, const PipelinePass&, double) {}
  virtual double stage_free_s(int) const { return 0; }  // when its stage was done on that clock
  // It is gone, and may enter again. Of a schedule alone: there micro-batches stay with their replica.
  virtual void reset(int) { throw std::logic_error("a worker without a schedule cannot begin anew"); }
  virtual std::string missing(int worker) const = 0;  // what it waits for

 protected:
  const PipelinePlan& plan_;
};

using PathsOfStep = std::vector<std::vector<Route>>;  // by micro-batch and home

// All must outlive it.
std::unique_ptr<PassOrder> make_schedule(const Trace& trace);
std::unique_ptr<PassOrder> make_order_of_arrival(const Trace& trace, const PathsOfStep& paths);
// `wake`: the worker may go on; `on_last_of_all`: the last pass of all workers is over.
std::unique_ptr<PassOrder> make_order_by_throughput(const Trace& trace, int step,
                                                    const StageAssignment& assignment, Wiring& wiring,
                                                    const Clock& clock, std::function<void(int worker)> wake,
                                                    std::function<void()> on_last_of_all);

}  // namespace longhaul
