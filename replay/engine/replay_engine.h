// One replay: every worker takes the programs of its steps, one after another, until all have ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/child_main.h"
#include "replay/engine/graph_steps.h"
#include "replay/engine/pipeline_steps.h"
#include "replay/engine/step_plans.h"
#include "replay/engine/synchronization.h"
#include "replay/network/network.h"
#include "replay/output/outputs.h"
#include "replay/rollouts/counted_network.h"
#include "replay/rollouts/rollouts.h"
#include "replay/work/slow_replicas.h"
#include "replay/work/stage_assignment.h"
#include "replay/work/step_times.h"
#include "replay/workers/ledger.h"
#include "replay/workers/presence.h"
#include "replay/workers/steps_at_work.h"
#include "replay/workers/workers.h"

namespace longhaul {

class ReplayEngine : private PresenceListener {
 public:
  // All must outlive it; the rest is that of replay() (replay.h).
  ReplayEngine(const Case& config, const Trace& trace, ReplayOutputs& outputs, ProgressReporter& reporter,
               Clock& clock, const NetworkMaker& network_of);
  ReplayEngine(const ReplayEngine&) = delete;  // what it starts calls back
  ReplayEngine& operator=(const ReplayEngine&) = delete;

  Json run();

 private:
  std::unique_ptr<Network> make_network(const NetworkMaker& network_of);
  std::unique_ptr<Presence> make_presence();
  std::unique_ptr<Synchronization> make_synchronization();

  // A step of a worker, in this order.
  void begin_training();
  void begin_step(int worker);
  void compute(int worker);
  void enter_step(int worker);
  void release_backward(int worker, double end_s, double step_s);
  void begin_waits(int worker);
  void follow_program(int worker);
  void end_waits(int worker);
  void end_step(int worker);
  void close_steps();
  void stop_if_all_ended();
  // A replica that is gone is not waited for, if none is left but those that have ended.
  bool is_over() const { return finished_ > 0 && at_work_.is_nobody(); }

  // An operation goes on.
  void member_done(GroupOperation& run, int worker);
  void go_on(int worker);
  void note_finished(const GroupOperation& run);
  double discarded_share(const ElasticExchange& run) const;
  void note_elastic(const ElasticExchange& run);
  void add_schedule(const GroupOperation& run, bool is_everyone);
  void note_contribution(const GroupOperation& run, int worker);

  // A replica is gone, or is back.
  void on_crash(int replica) override;
  void on_return(int replica, int step, Return as, bool has_own_state) override;
  void on_resume(int replica, int step) override;
  void stop(int worker);

  void beat();
  void report_segments(const SegmentCount& count, const std::string& simulated);
  std::string deadlock() const;
  void end_totals();
  Json write_results();

  Clock& clock_;
  const Trace& trace_;
  const Case& case_;
  ProgressReporter& reporter_;
  Workers workers_;
  Topology topology_;
  ReplayOutputs& outputs_;
  CountedNetwork* counted_ = nullptr;  // with rollouts: what network_ is
  const std::unique_ptr<Network> network_;
  ExchangeContext context_;
  Ledger ledger_;
  StepsAtWork at_work_;
  StepTimes times_;
  SlowReplicas slow_;
  StageAssignment assignment_;
  const std::unique_ptr<Presence> presence_;
  StepPlans plans_;
  const std::unique_ptr<Synchronization> synchronization_;
  std::optional<PipelineSteps> pipelines_;
  std::optional<GraphSteps> graphs_;
  std::optional<Rollouts> rollouts_;
  int finished_ = 0;  // workers
  std::int64_t transfers_ = 0;
  std::uint64_t steps_left_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), beaten_{};
  std::optional<std::int64_t> expected_segments_;  // of a network that counts them
};

}  // namespace longhaul
