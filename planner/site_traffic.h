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

// `trace` is of the first steps of the case (steps_to_replay()), `steps` all of them. Each period of the rest
// sends what those of the trace do on average, after a warm-up of the method. Throws InputError for a plan
// whose messages are not between replicas alone.
SiteTraffic site_traffic(const Case& one, const Trace& trace, const Topology& topology, std::int64_t steps);

}  // namespace longhaul
