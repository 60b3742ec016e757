// How many tokens each method needs: what the plan says, or what learning curves say that took it to a loss.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "planner/plan_request.h"

namespace longhaul {

struct TokenNeeds {
  std::map<std::string, std::int64_t> of_method;
  // By method, of the curves alone: tokens to the target, mean over cases.
  std::map<std::string, double> of_curves;
  std::vector<std::string> notes;  // what was left out, and why
};

// `methods`: the candidates. Throws InputError where no curve of a candidate reaches the target.
TokenNeeds token_needs(const PlanRequest& plan, const std::vector<std::string>& methods);

// Tokens at which a curve is at the loss for the first time, between two evaluations on the straight line; 0:
// never. `points`: tokens and loss, in ascending order.
double tokens_to(double loss, const std::vector<std::pair<double, double>>& points);

}  // namespace longhaul
