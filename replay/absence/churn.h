// Replicas that crash and come back (faults of kind crash). What follows is what the section `recovery` says
// (core/scenario/fault.h).
//
// A crash. The others know of it `detect` later; operations that lack the replica then continue as on_failure
// says. With "wait" nobody is told: the replica repeats its step when it is back, from its own state.
//
// With stages all workers of a replica crash and come back together: a step without one of them is none. A
// step of which one stage's operations have been made counts as computed. Each stage downloads from its own
// worker of the source, which keeps the rows of the step before until all of its stages have ended the step.
//
// A return. A returning replica downloads the state of a running one, drawn from (seed, replica, number of
// the download), over the network. Where the replicas of a method are all alike behind an operation
// (keeps_replicas_alike), it also listens to the operations that begin after its return. It downloads what
// its source holds once all operations before these are in it; they wait until it has that. It begins after
// the first step that ended one of them, when it has the result itself; not behind the last step. Otherwise
// it begins with the step that its source is at when the state has come. It takes no step twice: if it was
// ahead of its source, it waits for it. If the source crashes first, it draws another. If no replica runs, it
// continues with its own state. Once a replica has ended its last step and none is at work, training is over.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "core/plan/absences.h"
#include "core/plan/program.h"
#include "core/plan/trace.h"
#include "core/scenario/case.h"
#include "replay/absence/absence_faults.h"
#include "replay/exchange/exchange_run.h"
#include "replay/output/outputs.h"
#include "replay/work/life.h"
#include "replay/workers/ledger.h"
#include "replay/workers/presence.h"
#include "replay/workers/steps_at_work.h"
#include "replay/workers/workers.h"

namespace longhaul {

// What a replica downloads, bytes a parameter: `recovery.state_bytes`; or 12 (weights, two moments in fp32),
// and 4 more for each row that the method keeps (OperationPlan::keeps: slow weights, momentum, ...).
double state_bytes_of(const RecoverySpec& recovery, const OperationPlan& plan);

class Churn : public Presence {
 public:
  // What a replay has of its workers. All must outlive what is made with it.
  struct Replay {
    const ExchangeContext& context;
    const Workers& workers;
    const Ledger& ledger;
    const StepsAtWork& at_work;
    ReplayOutputs& outputs;
  };

  Churn(const Case& config, const Trace& trace, const Replay& replay);

  bool changes() const override { return true; }
  void start(std::vector<PresenceListener*> listeners) override;
  void ended_step(int worker) override;
  void has_result(int worker, int rule, int post_step) override;
  Attendance attendance(int step) const override;
  bool is_ready_listener(int replica, int step) const override;
  int gone() const override;
  double gone_s(int replica) const override;
  bool repeats_steps() const override { return on_failure_ == RecoverySpec::OnFailure::kWait; }
  void finish() override;

 private:
  // A step that has ended an operation, and who left it first.
  struct StepEnd {
    int step = 0, replica = 0;
    Life::Watch life;  // of the replica
  };
  struct Member {
    bool is_there = true;    // takes part
    bool is_up = true;       // no fault strikes it
    bool is_missed = false;  // gone, and the others know
    bool is_lost_listener = false;  // it listened, has crashed, and the others do not know
    int downloads = 0;       // so far
    Life life;               // until it crashes
    Life detection;          // of its crash
    Life download;           // of its state
    bool is_joining = false, has_state = false;
    bool awaits_source = false;  // which has not ended copied_step
    int source = -1, copied_step = 0, listens_from = 0;
    int stages_to_come = 0;                 // of its state
    std::vector<StepEnd> ends;              // since it has its state
    std::set<std::pair<int, int>> results;  // that it has, of rules and steps
    AbsenceRow row;
    double gone_s = 0;
  };

  Member& at(int replica) { return members_[as_index(replica)]; }
  const Member& at(int replica) const { return members_[as_index(replica)]; }
  int replicas() const { return static_cast<int>(members_.size()); }
  bool is_gone(int replica) const;  // before its last step is over

  template <typename Event>
  void tell(const Event& event) const {
    for (PresenceListener* listener : listeners_) event(*listener);
  }

  void change(int replica, bool is_struck);
  void crash(int replica);
  void detect(int replica);
  void come_back(int replica);
  void resume(int replica);
  void join(int replica);
  int draw_source(int replica);
  int listen(int replica, int step);
  int last_end_before(int listens_from) const;
  void download(int replica);
  void download(int replica, int stage);
  void state_arrived(int replica);
  void left_step(int replica, int step);
  std::vector<Instruction> ended_by(int step) const;
  bool has_listened_to_all_of(const Member& member, int step) const;
  bool has_results_of(const Member& member, int step) const;
  void begin_listener(int replica);
  void begin(int replica, int step, int source, int copied_step);
  bool is_anybody_there() const;
  bool went_in(int replica, int step) const;
  bool has_anybody_ended() const;
  bool listens_at(const Member& member, int step) const;
  int first_step(const Member& member, int wanted) const;
  int first_step_not_computed(int replica) const;
  [[noreturn]] void fail() const;

  const Case& case_;
  const Trace& trace_;
  const Replay replay_;
  std::vector<PresenceListener*> listeners_;
  RecoverySpec::OnFailure on_failure_;
  bool listens_;
  std::int64_t state_bytes_;
  std::vector<Member> members_;
  AbsenceFaults faults_;
  int idle_events_ = 0;  // crashes and returns since a replica last ended a step
  int vain_events_ = 0;  // the same, of those that change nothing
  int joining_ = 0;      // members
};

}  // namespace longhaul
