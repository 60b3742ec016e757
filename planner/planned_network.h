// The network of a plan as a section `network` of a scenario: the one that the plan file gives, or one that
// is made of its sites.
//
// Sites without measurements are a graph: each site's nodes on links of node_rate around its router, a link
// of the site's rate from there to its gateway, and gateways joined by links without a limit, whose delay
// makes the round trip between two nodes of two sites what `paths` or the great circle say. So a site's nodes
// share its way out. Sites with measurements are the matrix that planner/measured makes of these files:
// what one connection carries between two sites. A site that has a rate as well has an uplink of it,
// which its nodes share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "planner/measured/matrix.h"
#include "planner/plan_request.h"

namespace longhaul {

// bit/s of links that stand for no limit: the fastest that fidelity flow carries
// (replay/predict/estimate.cc).
constexpr double kNoLimit = 1e13;

struct PlannedNetwork {
  Json section;  // `network`, without rank order and connections
  std::map<std::string, std::string>
      files;               // that the section names, by name; they stand beside the scenario
  // FIFOs of network.tcp (`queue`, `queue_size`, `trunk_queue`): the search has fair queues in their place,
  // and the choice is verified behind them. Null: none, or the plan names a fidelity.
  Json fifos;
  int per_connection = 1;  // connections of a node for each that a candidate names (way_out)
};

// A scenario of the plan behind them, in fidelity linux.
void put_behind_fifos(const Json& fifos, Json& scenario);

// What the plan says of its sites, for the matrix of its measurements (PlanRequest::measured): who is where,
// and the round trips that no file need say. Throws InputError.
measured::Known known_of_sites(const PlanRequest& plan);

// Files that the plan's own section names are named so that they are found from `folder`; the names of those
// that are made begin with `prefix`. Throws InputError (JSON path).
PlannedNetwork planned_network(const PlanRequest& plan, const std::string& folder,
                               const std::string& prefix = "");

}  // namespace longhaul
