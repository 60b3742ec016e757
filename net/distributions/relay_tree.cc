// Groups pass on to `fan_out` others, as relays over HTTP do (SHARDCAST, arXiv 2505.07291). Where there are
// sites one group of each is a relay for the rest of its site: relays make a tree below the source, and each
// site's others one below their relay. Groups at the source's own site are below the source itself.
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "net/distributions/distribution.h"

namespace longhaul {

WeightDistribution relay_tree_distribution() {
  return {"relay-tree", "groups pass on to `fan_out` others, one of each site to the rest of its site",
          [](const WeightPlaces& places, int part) {
            std::vector<std::vector<int>> next(as_index(places.hosts));
            const int source = places.sources[as_index(part)];
            const std::vector<std::vector<int>> sites = groups_by_site(places, part);
            std::vector<int> relays;
            for (const std::vector<int>& site : sites) {
              const bool is_home = places.site_of.empty() ||
                                   places.site_of[as_index(site.front())] == places.site_of[as_index(source)];
              if (!is_home) relays.push_back(site.front());
            }
            add_heap(source, relays, places.fan_out, next);
            for (const std::vector<int>& site : sites) {
              if (contains(relays, site.front()))
                add_heap(site.front(), {site.begin() + 1, site.end()}, places.fan_out, next);
              else
                add_heap(source, site, places.fan_out, next);
            }
            return next;
          }};
}

}  // namespace longhaul
