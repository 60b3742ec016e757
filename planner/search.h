// The search for a plan: which of the candidates are worth it in time, money and bytes that leave a site.
//
// Every candidate is checked as a scenario is, and replayed with fidelity analytic, in which messages do not
// hinder each other. Of each recipe (a candidate without its H) the smallest H is taken that keeps
// min_utilization. Then flow replays what may be best, most promising first, until nothing is left that is
// not worse in all three, even with its analytic time, than what flow has replayed, or `replays` are spent.
// Where flow says that H is too small after all, the next one is replayed. Of each method at least one
// candidate is replayed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/case.h"
#include "core/plan/trace.h"
#include "planner/candidates.h"
#include "planner/extrapolation.h"
#include "planner/memory_need.h"
#include "planner/site_traffic.h"
#include "planner/token_needs.h"

namespace longhaul {

// One replay that the search asks for. Who carries it out writes the tables of the case into `folder`.
struct ReplayTask {
  std::string name;  // for people
  Case one;
  Trace trace;
  std::string folder;  // filled in by who replays; "": it failed, and `error` says why
  std::string error;
};

struct PlanTools {
  // Checks a scenario of one case, whose files lie in `folder`, as `longhaul check` does. Throws InputError.
  std::function<Case(const Json& scenario)> validated;
  // Replays all, some at a time; `phase` is what the user sees. May throw to end the search.
  std::function<void(std::vector<ReplayTask>& tasks, const std::string& phase)> replay;
};

// A candidate with what it costs.
struct Evaluation {
  Candidate candidate;
  Case one;
  std::string left_out;      // why it is no choice; "": it is one
  bool is_replayed = false;  // with flow (or the fidelity of the plan); else analytic alone
  TrainingTime time;
  double residual = 0;   // of the network model, a fraction of what the network adds
  double compute_s = 0;  // S steps without the network
  double utilization = 0;
  double compute_cost = 0, egress_cost = 0;
  SiteTraffic traffic;
  MemoryNeed memory;
  std::string folder;  // of its replay

  double total_s() const { return time.total_s; }
  double cost() const { return compute_cost + egress_cost; }
  double bytes() const { return traffic.together(); }
  // What the network adds may be so much shorter or longer, and two standard errors of the draws.
  double low_s() const;
  double high_s() const;
};

// Whether `a` is at most `b` in time, money and bytes, and less in one of them.
bool dominates(const Evaluation& a, const Evaluation& b);

// What differs by less does not matter to a planner.
constexpr double kSameToAPlanner = 0.005;

// The numbers of those that none dominates, the preferred first; of several that are the same to a planner
// in all three the preferred one alone.
std::vector<std::size_t> pareto_front(const std::vector<Evaluation>& all, Preference prefer);

struct SearchResult {
  std::vector<Evaluation> evaluations;  // replayed, the front first and the choice before all
  std::size_t front = 0;                // so many of them are the front
  std::vector<Evaluation> of_choice;    // the choice's recipe with every H
  std::size_t candidates = 0;
  int replays = 0;                 // with flow
  int not_replayed = 0;            // recipes that the analytic time rules out, or for which `replays` ran out
  bool ran_out = false;            // the latter
  bool keeps_utilization = false;  // the choice does
  std::vector<std::string> notes;  // what was left out, and why
};

// Throws InputError where no candidate can be; `needs` says the tokens of each method.
SearchResult search_plan(const PlanRequest& plan, const PlannedNetwork& network, const TokenNeeds& needs,
                         const PlanTools& tools);

// Of cases that are replayed otherwise than as candidates (another rate of a link): their times.
std::vector<TrainingTime> times_of(const std::vector<Case>& cases, const PlanTools& tools,
                                   const std::vector<std::string>& names, const std::string& phase);

}  // namespace longhaul
