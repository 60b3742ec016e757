// What came out of a search, and how it is said: on the terminal, as JSON, as a scenario.
#pragma once

#include <string>
#include <vector>

#include "planner/faulty_times.h"
#include "planner/plan_request.h"
#include "planner/search.h"
#include "planner/sensitivity.h"
#include "planner/site_shares.h"
#include "planner/token_needs.h"

namespace longhaul {

struct PlanResult {
  TokenNeeds needs;
  SearchResult search;
  Sensitivity sensitivity;
  std::vector<SiteShare> sites;
  std::vector<FaultyTime> faulty;

  const Evaluation& choice() const { return search.evaluations.front(); }
};

// The sentence that decides: what to take, how long, how dear, and what else is on the front for what.
std::string decision(const PlanRequest& plan, const PlanResult& result);

// One sentence: time with its range, money and what to change.
std::string in_short(const PlanRequest& plan, const PlanResult& result);

// What no replay can know, in sentences: the loss, how the time was found, how wrong it may be.
std::vector<std::string> caveats(const PlanResult& result);

// What it means to be on the front.
std::string front_in_words(const SearchResult& search);

// What lies between the low and the high end of a time.
std::string range_meaning();

// Everything for the terminal: decision, table, H, memory, links, placement.
std::string plan_text(const PlanRequest& plan, const PlanResult& result);

// plan.json: format 1; the same in numbers, SI units, for other programs and for the page.
Json plan_data(const PlanRequest& plan, const PlanResult& result);

// The chosen plan as a scenario of all its steps, for longhaul check and longhaul run.
Json chosen_scenario(const PlanRequest& plan, const PlanResult& result);

// A script that starts the choice on a node: its rank, the environment of NCCL and Gloo, and the sysctls that
// the times rest on.
std::string launch_script(const PlanRequest& plan, const Evaluation& choice);

// One HTML file with the same, which opens offline.
std::string plan_page(const Json& data);

double accelerator_hours(const PlanRequest& plan, const Evaluation& evaluation);

// Which rank stands at which site: "Oslo: 0-3, 5; Bergen: 4".
std::string placement_in_words(const Case& config);

// Tables for the terminal, columns of one unit each.
// The plans that were replayed, the choice first; at most 16.
std::string plans_table(const PlanRequest& plan, const SearchResult& search);

// The choice's recipe with every H.
std::string inner_steps_table(const PlanRequest& plan, const SearchResult& search);

// What each site gives and takes, and the choice without it.
std::string sites_table(const PlanRequest& plan, const PlanResult& result);

// With a heading: the choice, and the best plan of each other method, with the plan's faults.
std::string faults_table(const PlanResult& result);

// "12,400": three significant digits where there are more before the point.
std::string human_amount(double amount);

}  // namespace longhaul
