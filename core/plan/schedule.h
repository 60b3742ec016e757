// Who took part in the operations in which times decide that: of rules that do not wait for all (Completion),
// and of all rules where replicas go on without those who are gone (absences.h). The replay collects it, and
// makes a journal of it (journal.h), which the training carries out.
#pragma once

#include <map>
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

// With these groups, and sends among their members alone.
Operation with_groups(Operation operation, std::vector<std::vector<int>> groups);

// The operations, those of such rules with the groups that met, and with sends among these alone. Of drawn
// groups one who was left alone takes no step, but one that was drawn to sit out does; an operation in which
// nobody met or sat out is left out. Throws std::logic_error where the schedule does not have the operation,
// unless it `has_all`.
std::vector<Operation> followed(const Schedule& schedule, const OperationPlan& plan,
                                std::vector<Operation> operations);

}  // namespace longhaul
