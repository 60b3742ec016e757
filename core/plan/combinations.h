// What cannot be had together: one row a pair, with its reason. `longhaul check` asks this table before a run
// begins, each program asks it before it carries a case out, and `longhaul list combinations` prints it. What
// one section alone can tell (an option beside another one of its method or its network) stands there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/plan/operations.h"
#include "core/scenario/case.h"

namespace longhaul {

// What carries a training out.
struct Executor {
  bool is_on_card = false;
  int ranks = 1;
};

struct RefusedCombination {
  struct Found {
    std::string path, found, allowed;  // as those of an InputError (core/base/errors.h)
  };
  const char *feature, *with, *why;
  // In a case that has both. `plan`: of its method; where it is trained, that which is trained.
  std::optional<Found> (*find)(const Case& config, const OperationPlan& plan, const Executor& executor);
};

const std::vector<RefusedCombination>& refused_combinations();

// Throws InputError with the first one that the case has.
void check_combinations(const Case& config, const OperationPlan& plan, const Executor& executor);
// With the device that the case asks for.
void check_combinations(const Case& config, const OperationPlan& plan);

}  // namespace longhaul
