// What a plan's choice takes and costs in the end: one number where a search, its faults and its FIFOs have
// one each.
#pragma once

#include "planner/faulty_times.h"
#include "planner/plan_request.h"
#include "planner/plan_result.h"

namespace longhaul {

// Of the choice behind its FIFOs, where it was replayed there: over seeds, and as wrong as the network model
// may be.
TimeRange verified_range(const PlanResult& result);
bool is_verified(const PlanResult& result);

struct Answer {
  TimeRange time;  // with its faults, where the plan has some; else behind its FIFOs, where that was replayed
  double cost = 0;  // of that time, in the plan's currency
  // What limits are judged on: the longest of these times, where there are both, and its cost.
  double longest_s = 0, highest_cost = 0;
  bool is_longest_behind_fifos = false;

  // How far that exceeds the deadline or the budget, as a fraction (ChoiceRule).
  double excess(const ChoiceRule& rule) const { return rule.excess(longest_s, highest_cost); }
};

Answer answer_of(const PlanResult& result);

}  // namespace longhaul
