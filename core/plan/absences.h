// Which replicas are gone for which steps, where the others go on without them (faults of kind crash, section
// `recovery`, core/scenario/fault.h).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/plan/operations.h"
#include "core/scenario/case.h"

namespace longhaul {

// The policy of a case: a method whose replicas hold what no other has (shards, units of their own, the one
// that trains for all) always waits.
RecoverySpec::OnFailure on_failure_of(const RecoverySpec& recovery, const OperationPlan& plan);

// Whether an operation of the case may lack a member while the others go on.
bool may_lack_members(const Case& config, const OperationPlan& plan);

// Whether times decide what a training does: then it needs the journal that the replay writes.
bool do_times_decide(const Case& config, const OperationPlan& plan);

// Whether averaging leaves all replicas with the same slow weights: those of Δ or of gradients among
// everyone. Not where weights are averaged, which brings replicas together that were apart, nor with merges,
// which each takes up at a step of its own.
bool keeps_replicas_alike(const OperationPlan& plan);

// One absence of one replica. Steps count from 1.
struct Absence {
  int replica = 0;
  int left_step = 1;    // the first that it has not computed
  int ended_step = 0;   // the last whose exchanges were over for it: left_step − 1, or one before that
  int source = -1;      // whose state it begins with; −1: its own
  int copied_step = 0;  // what the source held after this step
  int first_step = 0;   // that it takes when it is back; 0: it did not come back
  std::optional<std::size_t> copy = {};  // that it begins with, its number (Absences::copies)

  // Before the last step a replica takes no step twice. One that went in the exchange of the last step takes
  // that once more in the replay; its numbers are those of the first time.
  bool comes_back() const { return first_step >= left_step; }
};

class Absences {
 public:
  Absences() = default;  // all are there all the time
  // In the order in which they ended.
  Absences(const std::vector<Absence>& absences, const PlanContext& context, bool listeners_inherit);

  // Whether it computes the step.
  bool computes(int replica, int step) const;
  // Whether it computed the step and was there at its end: what an evaluation is of.
  bool ends(int replica, int step) const;

  // What a replica that comes back begins with. It is read after `copied_step`, and stands in the replica's
  // rows after `step`, when its last step before is over.
  struct Copy {
    int replica = 0, source = 0, copied_step = 0, step = 0;
    std::size_t source_returns = 0;  // how often the source had come back by then
  };
  // In the order in which they are made.
  const std::vector<Copy>& copies() const { return copies_; }
  // Those of a replica, in their order. The last one may be without a return.
  const std::vector<Absence>& of(int replica) const;

  // Of an operation posted at `post_step`, for one who is there at `step`: whose contribution is its own
  // then. A replica that came back in between has what its source had sent, where it also gets the results of
  // what was under way (keeps_replicas_alike); else −1: it takes no part.
  int contributor(int replica, int post_step, int step) const;

 private:
  std::vector<std::vector<Absence>> of_;  // by replica, in their order; empty: all are there
  std::vector<Copy> copies_;
  bool listeners_inherit_ = false;
};

}  // namespace longhaul
