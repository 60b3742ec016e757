// The search for the sites of workers that cost least.
//
// Up to kMostExact workers every assignment is tried: of workers to sites, as workers of one site are alike.
// Above that a given start is improved by 2-opt: two workers at different sites change places, or a stretch
// of rows (a replica with all its stages; without stages a rank) is turned round, the first change that helps
// is taken, until none does or the budget is spent. Deterministic.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace longhaul {

constexpr int kMostExact = 8;

// Seconds decide; where they are equal but for rounding, the mean does. A slowest worker hides what the
// others gain, and without the mean a search would stand still before it.
struct PlaceCost {
  double seconds = 0, mean_s = 0;
};
bool is_better(const PlaceCost& place_cost, const PlaceCost& other);

// Of the site of each worker.
using PlaceObjective = std::function<PlaceCost(const std::vector<int>& site_of)>;
// The best sites so far. Later ones must be better by more than rounding.
struct BestPlaces {
  std::vector<int> site_of;
  PlaceCost cost;

  bool take(const std::vector<int>& other, const PlaceObjective& objective) {
    const PlaceCost of_other = objective(other);
    if (!site_of.empty() && !is_better(of_other, cost)) return false;
    site_of = other;
    cost = of_other;
    return true;
  }
};
// Whether there is budget for another call.
using PlaceBudget = std::function<bool()>;

// `places`: workers at each site. On equality the earlier one in the order of numbers; blocks are the first.
std::vector<int> best_of_all(const std::vector<int>& places, const PlaceObjective& objective);

// `row`: workers in a row.
std::vector<int> improved(std::vector<int> site_of, int row, const PlaceObjective& objective,
                          const PlaceBudget& has_budget);

}  // namespace longhaul
