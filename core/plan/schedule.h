// Who took part in the operations in which times decide that: of rules that do not wait for all (Completion),
// and of all rules where replicas go on without those who are gone (absences.h). The replay writes it, in the
// order in which operations were done (schedule.jsonl, docs/formats.md), and the training follows it.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/absences.h"
#include "core/plan/operations.h"

namespace longhaul {

// One that a synchronizer made (OperationKind::kMerge).
struct Merge {
  struct Contribution {
    int replica = 0, post_step = 0;
    // At the end of which the replica took up the merged model; 0: it ended, or went, before that.
    int taken_step = 0;
  };

  int rule = 0, number = 0;
  std::vector<Contribution> contributions;  // by replica, ascending
};

struct Schedule {
  std::vector<Merge> merges = {};  // in the order in which they were made; of a rule by number
  // By (number of the rule in the plan, post step): the groups that met, of those replicas alone that took
  // part.
  std::map<std::pair<int, int>, std::vector<std::vector<int>>> groups;
  // It has all operations in which anybody took part, since replicas may be gone: which is in `absences`.
  bool has_all = false;
  Absences absences = {};

  // Whether it says who takes part in the rule's operations.
  bool decides(const OperationRule& rule) const { return has_all || !rule.completion.is_all(); }
};

// That of merges which wait for all replicas, and for which all replicas wait (a slack of no steps): it
// follows from the plan.
Schedule synchronous_merges(const OperationPlan& plan, const PlanContext& context);

// Of all lines those of the plan's rules whose completion is not `all`; every line where the schedule
// `has_all`. Throws InputError with the line number for a line that is no schedule, and for a schedule of
// another number of replicas; `file` only names it. Merges must be ones that replicas can have made: numbers
// without a gap, steps at which the rule is posted, each replica with one contribution of a rule under way at
// a time, taken up no sooner than the plan says; where the schedule `has_all`, or never, and then another.
Schedule read_schedule(std::istream& in, const std::string& file, const OperationPlan& plan,
                       const PlanContext& context, bool has_all = false);

// The operations, those of such rules with the groups that met, and with sends among these alone. Of drawn
// groups one who was left alone takes no step, but one that was drawn to sit out does; an operation in which
// nobody met or sat out is left out. Throws
// InputError where the schedule does not have the operation, unless it `has_all`.
std::vector<Operation> followed(const Schedule& schedule, const OperationPlan& plan,
                                std::vector<Operation> operations);

}  // namespace longhaul
