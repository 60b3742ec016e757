// What a search may choose from: every combination of a plan's candidates, each as a scenario of one case.
#pragma once

#include <string>
#include <vector>

#include "planner/plan_request.h"
#include "planner/planned_network.h"

namespace longhaul {

struct Candidate {
  std::string method;       // its name
  std::string words;        // "diloco, H = 100, int8, ring, 8 connections, optimized order"
  std::string recipe;       // the same without H: candidates of a recipe differ in it alone
  int inner_steps = 0;      // H; 0: the method has none
  std::int64_t tokens = 0;  // of the whole training
  Json scenario;            // of all its steps, without a name
};

// `tokens_of`: by method, how many it needs; a method that is missing there is left out.
std::vector<Candidate> candidates_of(const PlanRequest& plan, const PlannedNetwork& network,
                                     const std::map<std::string, std::int64_t>& tokens_of);

// The names of the methods among the plan's candidates, each once.
std::vector<std::string> candidate_methods(const PlanRequest& plan);

}  // namespace longhaul
