#include "net/site_matrix.h"

#include <algorithm>
#include <limits>

namespace longhaul {
namespace {

// The first two replicas at a site; the second -1 where it has one alone.
struct Representatives {
  int router = -1, first = -1, second = -1;
};

std::vector<Representatives> sites_of(const Topology& topology) {
  std::vector<Representatives> sites;
  const std::vector<int> routers = routers_of_replicas(topology);
  for (int replica = 0; replica < topology.replicas(); ++replica) {
    const int router = routers[as_index(replica)];
    if (router < 0) continue;
    const auto site = std::find_if(sites.begin(), sites.end(), [&](const Representatives& representatives) {
      return representatives.router == router;
    });
    if (site == sites.end())
      sites.push_back({router, replica, -1});
    else if (site->second < 0)
      site->second = replica;
  }
  return sites;
}

}  // namespace

std::vector<int> routers_of_replicas(const Topology& topology) {
  std::vector<int> routers(as_index(topology.replicas()), -1), links(routers.size(), 0);
  for (const Link& link : topology.links())
    for (const auto& [replica, other] :
         {std::pair(link.first, link.second), std::pair(link.second, link.first)})
      if (replica < topology.replicas()) {
        routers[as_index(replica)] = other < topology.replicas() ? -1 : other;
        ++links[as_index(replica)];
      }
  for (std::size_t i = 0; i < routers.size(); ++i)
    if (links[i] != 1) routers[i] = -1;
  return routers;
}

SiteMatrix site_matrix(const Topology& topology) {
  SiteMatrix matrix;
  if (topology.site_of().empty()) return matrix;
  const std::vector<Representatives> sites = sites_of(topology);
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  for (const Representatives& from : sites) {
    matrix.sites.push_back(topology.node_name(from.router));
    std::vector<double> rtt_s, throughput_bps;
    for (const Representatives& to : sites) {
      const int target = from.router == to.router ? from.second : to.first;
      rtt_s.push_back(target < 0 ? unknown : topology.rtt_s(from.first, target));
      throughput_bps.push_back(target < 0 ? unknown
                                          : std::min(topology.connection_cap(from.first, target),
                                                     topology.bottleneck(from.first, target)));
    }
    matrix.rtt_s.push_back(std::move(rtt_s));
    matrix.throughput_bps.push_back(std::move(throughput_bps));
  }
  return matrix;
}

}  // namespace longhaul
