// Which cases of a run to take: those that no other one beats in two metrics at once, and of these the best
// one within bounds. What `longhaul plan` says of a sweep over rollouts.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace longhaul {

// Metrics of which lower is better.
struct CaseRule {
  std::string prefer, beside;  // the front is of these two; the choice has the lowest of the first
  std::map<std::string, double> at_most = {};  // of any metric
};

struct CaseChoice {
  std::vector<std::size_t> front;             // of the records, from the lowest `prefer` on
  std::vector<std::vector<std::string>> why;  // by record: the bounds that it breaks, or what it lacks
  std::optional<std::size_t> choice;          // the first of the front
};

// One record for each point of the sweep and method, in the order of the first: of several seeds the metrics
// are their means, `seeds` has them all, and what is not done in each is not done. What a metric lacks in one
// it lacks in the mean.
std::vector<Json> means_over_seeds(const std::vector<Json>& records);

// Of equal ones the first. A record that is not done, or lacks a metric of the rule, is not taken.
CaseChoice choose(const std::vector<Json>& records, const CaseRule& rule);

// What the section `plan` of a resolved scenario says; without it `cost` where the scenario has prices, else
// the time. Throws InputError at plan.KEY for a metric that does not exist, or of which lower is not better.
CaseRule choice_rule(const Json& scenario);

}  // namespace longhaul
