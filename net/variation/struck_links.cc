#include "net/variation/struck_links.h"

#include <cmath>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/json.h"
#include "net/overrides.h"

namespace longhaul {
namespace {

bool is_replica(const Topology& topology, int node) {
  return node < topology.replicas();
}

StruckLinks links_of_site(const Fault& fault, const Topology& topology, const std::string& path) {
  const int node = node_named(topology, fault.site, path);
  StruckLinks struck{fault.site, {}};
  for (int link = 0; link < topology.link_count(); ++link) {
    const int from = topology.from(2 * link), to = topology.to(2 * link);
    if ((from == node || to == node) && !is_replica(topology, from == node ? to : from))
      struck.links.push_back(link);
  }
  if (is_replica(topology, node) || struck.links.empty())
    throw InputError(path, "found \"" + fault.site + "\", which has no links to other sites",
                     "a router with such links", "kind \"link\" strikes the link of a replica");
  return struck;
}

}  // namespace

std::vector<StruckLinks> struck_by(const Fault& fault, const Topology& topology) {
  const std::string path = element_path("faults", as_index(fault.number));
  if (topology.is_mesh())
    throw InputError(path, "found a link of a mesh", "another topology", "the links of a mesh are all alike");
  if (!fault.site.empty()) return {links_of_site(fault, topology, path + ".site")};
  std::vector<StruckLinks> struck;
  for (const int number : links_named(topology, fault.link, path + ".link")) {
    const Link link = topology.link(number);
    if (fault.rate > 0 && fault.rate < 1 && !std::isfinite(link.rate_forward) &&
        !std::isfinite(link.rate_backward))
      throw InputError(path + ".rate", "found a part of the rate of " + link.name + ", which has no limit",
                       "0, or a link with a rate of its own");
    struck.push_back({link.name, {number}});
  }
  return struck;
}

}  // namespace longhaul
