// Tables for the terminal, columns of one unit each.
#pragma once

#include <string>

#include "planner/plan_request.h"
#include "planner/plan_result.h"
#include "planner/search.h"

namespace longhaul {

// The plans that were replayed, the choice first; at most 16.
std::string plans_table(const PlanRequest& plan, const SearchResult& search);

// The choice's recipe with every H.
std::string inner_steps_table(const PlanRequest& plan, const SearchResult& search);

// What each site gives and takes, and the choice without it.
std::string sites_table(const PlanRequest& plan, const PlanResult& result);

// With a heading: the choice, and the best plan of each other method, with the plan's faults.
std::string faults_table(const PlanResult& result);

}  // namespace longhaul
