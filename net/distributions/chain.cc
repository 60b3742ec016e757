// A source sends to one group, and each passes on to the next one; of a site one after another, so that each
// way between sites is taken once. Piece by piece it takes hardly longer for many than for one.
#include "core/base/index.h"
#include "net/distributions/distribution.h"

namespace longhaul {

WeightDistribution chain_distribution() {
  return {"chain", "each group passes on to the next one", [](const WeightPlaces& places, int part) {
            std::vector<std::vector<int>> next(as_index(places.hosts));
            int last = places.sources[as_index(part)];
            for (const std::vector<int>& site : groups_by_site(places, part))
              for (const int group : site) {
                next[as_index(last)].push_back(group);
                last = group;
              }
            return next;
          }};
}

}  // namespace longhaul
