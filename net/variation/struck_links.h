// Which links of a topology a fault of the scenario strikes (core/scenario/fault.h).
#pragma once

#include <string>
#include <vector>

#include "core/scenario/fault.h"
#include "net/topology.h"

namespace longhaul {

// Links that fail together, and what they are called in draws and tables: the name of a link, or of a site.
struct StruckLinks {
  std::string subject;
  std::vector<int> links;
};

// Each link that `fault.link` names by itself; or, together, all links of the site's router but those to
// replicas. Throws InputError for a link or a site that is not there, for a site without such links, for a
// mesh, and for a part of the rate of a link that has no limit.
std::vector<StruckLinks> struck_by(const Fault& fault, const Topology& topology);

}  // namespace longhaul
