// The workers of a case whose replicas talk inside their steps (replay/exchange/step_graph_run.h), step after
// step.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/plan/trace.h"
#include "replay/exchange/step_graph_run.h"
#include "replay/output/outputs.h"
#include "replay/work/slow_replicas.h"
#include "replay/work/step_times.h"
#include "replay/workers/ledger.h"
#include "replay/workers/workers.h"

namespace longhaul {

class GraphSteps {
 public:
  // All must outlive it. `on_done`: the worker has done all of its step but what follows the compute.
  GraphSteps(const ExchangeContext& context, const Trace& trace, const StepTimes& times,
             const SlowReplicas& slow, Workers& workers, Ledger& ledger, ReplayOutputs& outputs,
             std::function<void(int worker)> on_done);

  void enter(int worker);  // the step that it is at
  std::int64_t transfers() const { return transfers_; }
  std::vector<std::string> waiting() const;

 private:
  std::shared_ptr<StepGraphRun> at(int step);
  void leave(int worker);

  const ExchangeContext& context_;
  const Trace& trace_;
  const StepTimes& times_;
  const SlowReplicas& slow_;
  Workers& workers_;
  Ledger& ledger_;
  ReplayOutputs& outputs_;
  const std::function<void(int worker)> on_done_;
  const StepGraphGroups groups_;
  const int first_rule_;
  std::map<int, std::shared_ptr<StepGraphRun>> runs_;  // by step; until every worker has left it
  std::int64_t transfers_ = 0;
};

}  // namespace longhaul
