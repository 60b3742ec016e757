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

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/trace.h"
#include "core/scenario/case.h"
#include "planner/choice.h"
#include "planner/token_needs.h"

namespace longhaul {

// One replay that the search asks for. Who carries it out writes the tables of the case into `folder`.
struct ReplayTask {
  std::string name;  // for people
  Case config;
  Trace trace;
  std::string folder;  // filled in by who replays; "": it failed, and `error` says why
  std::string error;
};

// The first steps of a case, at a fidelity, as a task.
ReplayTask first_steps(Case config, int steps, const std::string& fidelity, const std::string& name);

struct PlanTools {
  // Checks a scenario of one case, whose files lie in `folder`, as `longhaul check` does. Throws InputError.
  std::function<Case(const Json& scenario)> validated;
  // Replays all, some at a time; `phase` is what the user sees. May throw to end the search.
  std::function<void(std::vector<ReplayTask>& tasks, const std::string& phase)> replay;
};

struct SearchResult {
  std::vector<Evaluation> evaluations;  // replayed, the front first and the choice before all
  std::size_t front = 0;                // so many of them are the front
  std::vector<Evaluation> of_choice;    // the choice's recipe with every H
  std::size_t candidates = 0;           // without doubles
  int replays = 0;                      // with flow
  int not_replayed = 0;  // candidates that lower bounds rule out, or for which `replays` ran out
  int still_open = 0;    // the latter
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

// Of cases that are replayed otherwise than as candidates (another rate of a link): their times.
std::vector<TrainingTime> times_of(const std::vector<Case>& cases, const PlanTools& tools,
                                   const std::vector<std::string>& names, const std::string& phase);

// Gives each rank of a candidate the step of the site where it stands, which is known once ranks have places:
// the scenario and the case get workload.step_time_factors, with the order of ranks as it was found. Where
// slow replicas take fewer steps of a round, more rounds make up for their tokens.
void give_steps_to_ranks(const PlanRequest& plan, const std::function<Case(const Json&)>& validated,
                         Evaluation& evaluation);

// The share of a case's steps that a replica takes: below 1 with dynamic steps.
double taken_share(const Case& config, std::size_t rank);

// Compute of a step, in slowest steps, of the replica that computes for longest in a round.
double longest_share(const Case& config);

}  // namespace longhaul
