// What came out of a search for other programs: plan.json, its page, and the choice as a scenario.
#pragma once

#include <string>

#include "core/base/json.h"
#include "planner/evaluation.h"
#include "planner/plan_request.h"
#include "planner/plan_result.h"

namespace longhaul {

// plan.json: format 1; the same in numbers, SI units, for other programs and for the page.
Json plan_data(const PlanRequest& plan, const PlanResult& result);

// The chosen plan as a scenario of all its steps, for longhaul check and longhaul run.
Json chosen_scenario(const PlanRequest& plan, const PlanResult& result);

// One HTML file with the same, which opens offline; `planner_page` as of plan_files() (planning.h).
std::string plan_page(const Json& data, const std::string& planner_page = "");

double accelerator_hours(const PlanRequest& plan, const Evaluation& evaluation);

}  // namespace longhaul
