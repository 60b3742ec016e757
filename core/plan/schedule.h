// Who took part in the operations in which times decide that (Completion). The replay writes it, in the order
// in which operations were done (schedule.jsonl, docs/formats.md), and the training follows it.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/operations.h"

namespace longhaul {

struct Schedule {
  // By (number of the rule in the plan, post step): the groups that met, of those replicas alone that took
  // part.
  std::map<std::pair<int, int>, std::vector<std::vector<int>>> groups;
};

// Of all lines those of the plan's rules whose completion is not `all`. Throws InputError with the line
// number for a line that is no schedule, and for a schedule of another number of replicas; `file` only names
// it.
Schedule read_schedule(std::istream& in, const std::string& file, const OperationPlan& plan,
                       const PlanContext& context);

// The operations, those of such rules with the groups that met. Of drawn groups one who was left alone takes
// no step; an operation in which nobody met is left out. Throws InputError where the schedule does not
// have the operation.
std::vector<Operation> followed(const Schedule& schedule, const OperationPlan& plan,
                                std::vector<Operation> operations);

}  // namespace longhaul
