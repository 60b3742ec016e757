// What each site of a plan gives to the choice and takes from it: how much of the time its nodes compute,
// what they cost, and the choice without the site; and, where sites compute at unlike speeds, the choice with
// batches by speed.
//
// Without a site the same method goes its way among the other nodes, with as many tokens in all, so that
// there are more steps, of fewer tokens each. Placement is searched anew; everything else stays as it is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/evaluation.h"
#include "planner/plan_request.h"
#include "planner/replay_task.h"
#include "planner/search.h"
#include "planner/token_needs.h"

namespace longhaul {

struct SiteShare {
  std::string name;
  int nodes = 0, accelerators = 0;  // of all its nodes
  std::string accelerator;          // its name; "": the plan gives none
  double tokens = 0;                // of a node's step, mean
  double step_s = 0;                // compute of a node
  double computes = 0;              // share of the time in which a node computes
  double rent = 0, egress_cost = 0;
  std::optional<Evaluation> without;  // the choice without it; none: `why_not`
  std::string why_not;
};

// Of a plan whose file has sites; else none. Replays one plan a site, of the eight sites that have the fewest
// nodes. `folder`: where the validated scenarios' files lie.
std::vector<SiteShare> site_shares(const PlanRequest& plan, const SearchResult& search,
                                   const TokenNeeds& needs, const PlanTools& tools,
                                   const std::string& folder);

// The choice with batches by speed, where they would save time and the plan does not say how batches are.
std::optional<Evaluation> with_batches_by_speed(const PlanRequest& plan, const PlannedNetwork& network,
                                                const SearchResult& search, const TokenNeeds& needs,
                                                const PlanTools& tools);

// What batches by speed are, and what they ask of the training.
std::string batches_in_words(const std::vector<SiteShare>& sites);

// The site whose absence helps the most: less time or money and no more of the other, or a limit that is
// kept or missed by less. Null: none.
const SiteShare* best_left_out(const std::vector<SiteShare>& sites, const SearchResult& search);

}  // namespace longhaul
