// Which replicas are at which site: in the order of the sites, the first ones first.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/options.h"
#include "net/access_links.h"
#include "net/topology.h"

namespace longhaul {

using Placement = std::vector<std::pair<std::string, int>>;  // site, replicas

// From {site: count}, in the order written. Throws InputError at `path` if the counts do not add up to
// `replicas`.
Placement parse_placement(const Json& json, int replicas, const std::string& path);

// `sites` with so many replicas each that they are spread evenly; the first sites take the remainder.
Placement spread_evenly(Placement sites, int replicas);

// Without the sites that get no replica.
Placement without_empty_sites(Placement sites);

// Throws InputError at `path`.SITE, naming the nearest one, for a site that is none of `known`.
void check_sites_known(const Placement& sites, const std::vector<std::string>& known,
                       const std::string& path);

// Joins the replicas to their sites' routers (one an entry of `placement`) by access links of rtt / 4, and
// makes each entry a site. Replica r is at the site of place `places[r]` (net/rank_order.h).
void attach_replicas(Topology& topology, const Placement& placement, const std::vector<int>& routers,
                     const AccessLinks& access, const std::vector<int>& places);

}  // namespace longhaul
