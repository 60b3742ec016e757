#include "replay/rollouts/counted_network.h"

#include <algorithm>

#include "net/placement.h"

namespace longhaul {

std::vector<SiteBytes> bytes_of_sites(const Topology& topology, const CountedNetwork& network) {
  std::vector<SiteBytes> sites(network.out().size());
  for (int host = 0; host < static_cast<int>(topology.site_of().size()); ++host)
    sites[as_index(topology.site_of()[as_index(host)])].site = site_name(topology, host);
  for (std::size_t site = 0; site < sites.size(); ++site) {
    sites[site].out = network.out()[site];
    sites[site].in = network.in()[site];
  }
  return sites;
}

}  // namespace longhaul
