// What leaves each site, from the plan of operations alone: no replay is needed for bytes.
#pragma once

#include <string>
#include <vector>

#include "core/case.h"
#include "core/plan/trace.h"
#include "net/topology.h"

namespace longhaul {

struct SiteTraffic {
  std::vector<std::string> sites;  // where the network has none each node is one: "node 3"
  std::vector<double> leaving;     // bytes of IP packets to nodes of other sites, in the whole training
  double together() const;
};

// `trace` is of the first steps of the case, `steps` of all of it, and of the rest of the steps each `period`
// sends what the last one of the trace did. Throws InputError for a plan whose messages are not between
// replicas alone.
SiteTraffic site_traffic(const Case& one, const Trace& trace, const Topology& topology, int period,
                         std::int64_t steps);

}  // namespace longhaul
