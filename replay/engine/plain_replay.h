// One replay: every worker takes the programs of its steps, one after another, until all have ended. Who is
// there is there all the time; what changes where replicas may be gone is in replay_with_absences.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/child_main.h"
#include "replay/engine/meetings.h"
#include "replay/engine/pipeline_steps.h"
#include "replay/engine/steps_at_work.h"
#include "replay/engine/workers.h"
#include "replay/network/network.h"
#include "replay/output/logged_network.h"
#include "replay/work/slow_replicas.h"
#include "replay/work/step_times.h"

namespace longhaul {

class PlainReplay {
 public:
  // All must outlive it; the rest is that of replay() (replay.h).
  PlainReplay(const Case& config, const Trace& trace, const std::string& folder, ProgressReporter& reporter,
              Clock& clock, const NetworkMaker& network_of);
  virtual ~PlainReplay() = default;
  PlainReplay(const PlainReplay&) = delete;  // what it starts calls back
  PlainReplay& operator=(const PlainReplay&) = delete;

  Json run();

 protected:
  // Where replicas may be gone these differ.
  virtual void begin_training();
  virtual bool takes_steps_together() const { return true; }  // at which nothing but compute happens
  virtual int gone_replicas() const { return 0; }
  virtual void ended_step(int) {}  // a worker has, its latest one
  virtual std::shared_ptr<StepPlan> make_plan(int step, const StepPlan::MemberDone& on_member_done);
  virtual void made_plan(StepPlan&, int) {}
  virtual void note_finished(const GroupOperation& run);
  virtual bool counts_shares(const OperationRule& rule) const { return rule.completion.fetches; }
  virtual void end_totals();

  void compute(int worker);
  void stop_if_all_ended();

  Clock& clock_;
  const Trace& trace_;
  const Case& case_;
  Workers workers_;
  Topology topology_;
  LoggedNetwork network_;
  ExchangeContext context_;
  ReplayOutputs outputs_;
  std::unique_ptr<Meetings> meetings_;
  std::optional<PipelineSteps> pipelines_;
  OpenPlans open_plans_;  // until no worker is at the step
  StepsAtWork at_work_;
  int finished_ = 0;  // workers

 private:
  std::shared_ptr<StepPlan> plan_at(int step);
  void enter_pipeline(int worker);
  void begin_waits(int worker);
  void end_waits(int worker);
  void follow_program(int worker);
  void go_on(int worker);
  void end_step(int worker);
  void close_steps();
  // Who is gone is not waited for, if there is nobody left but those who have ended.
  bool is_over() const { return finished_ > 0 && at_work_.is_nobody(); }
  void release_backward(int worker, double end_s, double step_s);
  void member_done(GroupOperation& run, int worker);
  void note_contribution(const GroupOperation& run, int worker);
  void beat();
  void report_segments(const SegmentCount& count, const std::string& simulated);
  std::string deadlock() const;
  Json write_results();

  ProgressReporter& reporter_;
  StepTimes times_;
  SlowReplicas slow_;
  StageAssignment assignment_;
  std::int64_t transfers_ = 0;
  std::uint64_t steps_left_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), beaten_{};
  std::optional<std::int64_t> expected_segments_;  // of a network that counts them
};

}  // namespace longhaul
