#include "replay/placement/search.h"

#include <algorithm>

#include "core/base/index.h"

namespace longhaul {
namespace {

// A change must gain more than rounding, or the search might never end.
constexpr double kRounding = 1e-9;

class TwoOpt {
 public:
  TwoOpt(std::vector<int> start, int row, const PlaceObjective& objective, const PlaceBudget& has_budget)
      : site_of_(std::move(start)),
        row_(row),
        objective_(objective),
        has_budget_(has_budget),
        best_(objective(site_of_)) {}

  std::vector<int> run() {
    while (swap_workers() || turn_rows()) {
    }
    return site_of_;
  }

 private:
  // Whether `change`, which undoes itself when it is made again, has helped.
  template <typename Change>
  bool helps(const Change& change) {
    change();
    const PlaceCost cost = objective_(site_of_);
    if (!is_better(cost, best_)) return change(), false;
    best_ = cost;
    return true;
  }

  bool swap_workers() {
    bool has_improved = false;
    for (std::size_t i = 0; i < site_of_.size(); ++i)
      for (std::size_t j = i + 1; j < site_of_.size() && has_budget_(); ++j)
        if (site_of_[i] != site_of_[j]) has_improved |= helps([&] { std::swap(site_of_[i], site_of_[j]); });
    return has_improved;
  }

  bool turn_rows() {
    bool has_improved = false;
    const int rows = static_cast<int>(site_of_.size()) / row_;
    for (int first = 0; first < rows; ++first)
      for (int last = first + 1; last < rows && has_budget_(); ++last)
        has_improved |= helps([&] { turn(first, last); });
    return has_improved;
  }

  void turn(int first, int last) {
    for (; first < last; ++first, --last)
      std::swap_ranges(site_of_.begin() + first * row_, site_of_.begin() + (first + 1) * row_,
                       site_of_.begin() + last * row_);
  }

  std::vector<int> site_of_;
  int row_;
  const PlaceObjective& objective_;
  const PlaceBudget& has_budget_;
  PlaceCost best_;
};

}  // namespace

bool is_better(const PlaceCost& place_cost, const PlaceCost& other) {
  if (place_cost.seconds < other.seconds * (1 - kRounding)) return true;
  return place_cost.seconds <= other.seconds && place_cost.mean_s < other.mean_s * (1 - kRounding);
}

std::vector<int> best_of_all(const std::vector<int>& places, const PlaceObjective& objective) {
  std::vector<int> site_of;
  for (std::size_t site = 0; site < places.size(); ++site)
    site_of.insert(site_of.end(), as_index(places[site]), static_cast<int>(site));
  BestPlaces best;
  do best.take(site_of, objective);
  while (std::next_permutation(site_of.begin(), site_of.end()));
  return best.site_of;
}

std::vector<int> improved(std::vector<int> site_of, int row, const PlaceObjective& objective,
                          const PlaceBudget& has_budget) {
  return TwoOpt(std::move(site_of), row, objective, has_budget).run();
}

}  // namespace longhaul
