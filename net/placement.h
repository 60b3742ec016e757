// Which replicas are at which site: in the order of the sites, the first ones first.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "net/topology.h"

namespace longhaul {

using Placement = std::vector<std::pair<std::string, int>>;  // site, replicas

// `sites` with the counts filled in where they are to be `even` (the first sites take the remainder), without
// the sites that get nobody. Throws InputError at `path` if the counts are not those of `replicas`.
Placement placed(Placement sites, bool even, int replicas, const std::string& path);

// Throws InputError at `path`.SITE, naming the nearest one, for a site that is none of `known`.
void check_sites_known(const Placement& sites, const std::vector<std::string>& known,
                       const std::string& path);

// Joins the replicas to their sites' routers (one an entry of `placement`) by access links of rtt / 4, and
// makes each entry a site. Replica r is at the site of place `places[r]` (net/rank_order.h).
void attach_replicas(Topology& topology, const Placement& placement, const std::vector<int>& routers,
                     const StarSpec& access, const std::vector<int>& places);

}  // namespace longhaul
