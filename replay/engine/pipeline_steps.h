// The workers of a case with stages: they go through the micro-batches of a step (pipeline_run.h), and some
// of them may change their stage between steps (rebalance.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replay/pipeline/rebalance.h"
#include "replay/pipeline/wiring.h"
#include "replay/work/slow_replicas.h"
#include "replay/work/step_times.h"
#include "replay/workers/ledger.h"
#include "replay/workers/workers.h"

namespace longhaul {

class PipelineSteps {
 public:
  struct Watcher {
    std::function<void(int worker)> on_done;  // its passes of the step are over
    // Its last backward pass begins (PipelineRun::Watcher::on_last_pass), at a step with buckets.
    std::function<void(int worker, double pass_s, double microbatch_s)> on_last_pass;
  };

  // All must outlive it. `assignment` changes where workers move.
  PipelineSteps(const PipelineSpec& spec, const ExchangeContext& context, const Trace& trace,
                StageAssignment& assignment, const StepTimes& times, const SlowReplicas& slow,
                Workers& workers, Ledger& ledger, ReplayOutputs& outputs, Watcher watcher);

  void enter(int worker);  // the step that it is at
  // Where replicas may be gone: the worker crashes in its passes; and nobody comes to steps below this one.
  void on_crash(int worker);
  void close(int step);
  std::int64_t transfers() const { return transfers_; }
  std::vector<std::string> waiting() const;

 private:
  std::shared_ptr<PipelineRun> at(int step);
  void leave(int worker);
  void drop(int step);
  void end_passes(int step);
  void end_move(MoveTimes times);

  const ExchangeContext& context_;
  const Trace& trace_;
  StageAssignment& assignment_;
  const StepTimes& times_;
  const SlowReplicas& slow_;
  Workers& workers_;
  Ledger& ledger_;
  ReplayOutputs& outputs_;
  const Watcher watcher_;
  Wiring wiring_;
  std::optional<Rebalancing> rebalancing_;
  std::map<int, std::shared_ptr<PipelineRun>> runs_;  // by step; until every worker has left it
  std::int64_t transfers_ = 0;
};

}  // namespace longhaul
