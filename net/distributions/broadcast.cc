// A source sends its part to each group itself: n copies leave it.
#include "core/base/index.h"
#include "net/distributions/distribution.h"

namespace longhaul {

WeightDistribution broadcast_distribution() {
  return {"broadcast", "each source sends to every group itself", [](const WeightPlaces& places, int part) {
            std::vector<std::vector<int>> next(as_index(places.hosts));
            for (const std::vector<int>& site : groups_by_site(places, part))
              for (const int group : site) next[as_index(places.sources[as_index(part)])].push_back(group);
            return next;
          }};
}

}  // namespace longhaul
