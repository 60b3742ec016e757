// Who is there: replicas crash and come back (faults of kind crash), and what follows is what the section
// `recovery` says (core/scenario/fault.h).
//
// A crash. The others know of it `detect` later; operations that lack the replica then go on as on_failure
// says. With "wait" nobody is told: it does its step again when it is back, from its own state.
//
// With stages all workers of a replica crash and come back together: a step without one of them is none. A
// step of which one stage's operations have been made counts as computed. Each stage downloads from its own
// worker of the source, which keeps the rows of the step before until all of its stages have ended the step.
//
// A return. It downloads the state of one who is there, drawn from (seed, replica, number of the download),
// over the network. Where the replicas of a method are all alike behind an operation (keeps_replicas_alike),
// it also listens to the operations that are made from its return on, which wait until it has the state, and
// begins after the first step that ended one; not behind the last step. Otherwise it begins with the step
// that its source is at when the state has come. It takes no step twice: one that was ahead of its source
// waits for it. If the source crashes first, it draws another. Where nobody is there, it goes on with what it
// has. Once somebody has ended its last step and nobody is at work, training is over.
#pragma once

#include <vector>

#include "core/plan/absences.h"
#include "core/plan/trace.h"
#include "core/scenario/case.h"
#include "replay/absence/absence_faults.h"
#include "replay/engine/workers.h"
#include "replay/output/outputs.h"

namespace longhaul {

class ReplayWithAbsences;

// What a replica downloads, a parameter: `recovery.state_bytes`; or 12 (weights, two moments in fp32), and 4
// more for each row that the method keeps (OperationPlan::keeps: slow weights, momentum, ...).
double state_bytes_of(const RecoverySpec& recovery, const OperationPlan& plan);

class Membership {
 public:
  // All must outlive it.
  Membership(const Case& config, const Trace& trace, const ExchangeContext& context, ReplayOutputs& outputs,
             const Workers& workers, ReplayWithAbsences& replay);

  void start();  // now training begins
  bool waits() const { return on_failure_ == RecoverySpec::OnFailure::kWait; }
  bool is_there(int replica) const { return members_[as_index(replica)].is_there; }
  bool is_gone(int replica) const;  // before its last step is over
  // Who is in the operations of `step`, which are made now.
  Attendance attendance(int step) const;
  // Operations of `step` were made: listeners that have the state release theirs.
  void made(StepPlan& plan, int step);
  // A replica goes on to the next step.
  void left_step(int replica, int step);
  double gone_s(int replica) const;  // until now
  void finish();                     // rows of those who have not come back

 private:
  struct Member {
    bool is_there = true;    // takes part
    bool is_up = true;       // no fault strikes it
    bool is_missed = false;  // gone, and the others know
    int crashes = 0;         // so far; what was under way for an earlier life is void
    int downloads = 0;
    bool is_joining = false, has_state = false;
    int source = -1, copied_step = 0, listens_from = 0;
    int stages_to_come = 0;  // of its state
    AbsenceRow row;
    double gone_s = 0;
  };

  Member& at(int replica) { return members_[as_index(replica)]; }
  void change(int replica, bool is_struck);
  void crash(int replica);
  void detect(int replica);
  void come_back(int replica);
  void join(int replica);
  int draw_source(int replica);
  void download(int replica, int stage, int step);
  void state_arrived(int replica);
  void begin(int replica, int step, int source, int copied_step);
  bool is_anybody_there() const;
  bool went_in(int replica, int step) const;
  bool has_anybody_ended() const;
  bool listens_at(const Member& member, int step) const;
  int first_step(const Member& member, int wanted) const;

  const Case& case_;
  const Trace& trace_;
  const ExchangeContext& context_;
  ReplayOutputs& outputs_;
  const Workers& workers_;
  ReplayWithAbsences& replay_;
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
