// The search for a plan: which of the candidates are worth it in time, money and bytes that leave a site.
//
// A larger H saves time, money and bytes, and may cost loss, which no replay sees. So a plan is compared with
// those alone whose H is the same or smaller: the front has every plan that none of these is better than in
// time, money and bytes at once. Of plans that none may be told apart from in the replay one is taken.
//
// Every candidate is checked as a scenario is, and replayed with fidelity analytic, in which messages do not
// hinder each other. That time, and the one that the busiest link needs for its bytes, are lower bounds.
// Flow then replays what may be the choice, of each method, until nothing that is left can be, even with its
// lower bound; the same without deadline and budget, which says what these cost; every H of the choice; and,
// most promising first, what may be on the front. `replays` ends
// that early. Of each method at least one candidate is replayed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "planner/choice.h"
#include "planner/evaluation.h"
#include "planner/plan_request.h"
#include "planner/planned_network.h"
#include "planner/replay_task.h"
#include "planner/token_needs.h"

namespace longhaul {

struct SearchResult {
  std::vector<Evaluation> evaluations;  // replayed, the front first and the choice before all
  std::size_t front = 0;                // so many of them are the front
  std::vector<Evaluation> of_choice;    // the choice's recipe with every H
  std::size_t candidates = 0;           // without doubles
  int replays = 0;                      // with flow
  int not_replayed = 0;  // candidates that lower bounds or estimates rule out, or for which `replays` ran out
  int estimated = 0;     // of these, those of which there is an estimate (coarse_estimate.h)
  int still_open = 0;    // the latter
  bool is_cut = false;   // the user interrupted it: others may be better
  ChoiceRule rule;
  std::optional<Evaluation>
      without_limits;              // what would be taken without deadline and budget, if another plan
  std::vector<std::string> notes;  // what was left out, and why
};

// Throws InputError where no candidate can be; `needs` says the tokens of each method.
SearchResult search_plan(const PlanRequest& plan, const PlannedNetwork& network, const TokenNeeds& needs,
                         const PlanTools& tools);

// Of what was replayed the best plan of each method, the choice before all.
std::vector<const Evaluation*> best_of_each_method(const SearchResult& search);

}  // namespace longhaul
