// What replicas at two sites have between them: round-trip time and the throughput of one connection, along
// the routes of a topology. For tables and heat maps; the replay takes paths from the topology itself.
#pragma once

#include <string>
#include <vector>

#include "net/topology.h"

namespace longhaul {

struct SiteMatrix {
  std::vector<std::string> sites;  // where replicas stand, by their routers, in the order of the replicas
  // [site][site], s and bit/s. On the diagonal between two replicas of a site; NaN where it has one alone.
  std::vector<std::vector<double>> rtt_s;
  // Of one connection: what the topology caps it at, or else the slowest link of the route. kUnlimited if
  // neither limits it. TCP may carry less (net/tcp).
  std::vector<std::vector<double>> throughput_bps;
};

// The router that each replica's only link leads to, by replica; -1 for one with several links.
std::vector<int> routers_of_replicas(const Topology& topology);

// Empty without sites (star, mesh, homes). Paths are looked up for one replica, or two, of each site.
SiteMatrix site_matrix(const Topology& topology);

}  // namespace longhaul
