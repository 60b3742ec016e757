// Sources upload their parts to a store once, piece by piece an object each; every group downloads all
// objects, as soon as they are there.
#include "core/base/index.h"
#include "net/distributions/distribution.h"

namespace longhaul {

WeightDistribution store_distribution() {
  return {"store", "uploaded once, and downloaded by every group", [](const WeightPlaces& places, int part) {
            std::vector<std::vector<int>> next(as_index(places.hosts));
            next[as_index(places.sources[as_index(part)])].push_back(places.store);
            for (const std::vector<int>& site : groups_by_site(places, part))
              for (const int group : site) next[as_index(places.store)].push_back(group);
            return next;
          }};
}

}  // namespace longhaul
