#include "net/site_tour.h"

#include <algorithm>
#include <cmath>

#include "core/base/index.h"

namespace longhaul {
namespace {

constexpr int kMostOfAllRings = 8;
constexpr int kMostStarts = 44;
constexpr int kMostStopsOfManyStarts = 200;  // a start among n stops takes some n² steps and more
constexpr int kMostStopsOfASite = 3, kMostSitesOfManyStops = 64;
constexpr int kLongestRun = 3;  // of Or-opt

double between(const CostMatrix& cost, int number, int other) {
  return cost[as_index(number)][as_index(other)];
}

double length(const std::vector<int>& tour, const CostMatrix& cost) {
  double sum = 0;
  for (std::size_t i = 0; i < tour.size(); ++i) sum += between(cost, tour[i], tour[(i + 1) % tour.size()]);
  return sum;
}

std::vector<int> nearest_neighbours(int start, const CostMatrix& cost) {
  std::vector<int> tour = {start};
  std::vector<bool> is_used(cost.size());
  is_used[as_index(start)] = true;
  while (tour.size() < cost.size()) {
    int nearest = -1;
    for (int site = 0; site < static_cast<int>(cost.size()); ++site)
      if (!is_used[as_index(site)] &&
          (nearest < 0 || between(cost, tour.back(), site) < between(cost, tour.back(), nearest)))
        nearest = site;
    tour.push_back(nearest);
    is_used[as_index(nearest)] = true;
  }
  return tour;
}

// Local search on one tour. A move must gain more than rounding, or the search might never end.
class Improvement {
 public:
  Improvement(std::vector<int>& tour, const CostMatrix& cost)
      : tour_(tour), cost_(cost), least_gain_(1e-9 * length(tour, cost)) {}

  void run() {
    while (reverse_runs() || move_runs()) {
    }
  }

 private:
  int at(std::size_t i) const { return tour_[i % tour_.size()]; }
  double hop(std::size_t i, std::size_t j) const { return between(cost_, at(i), at(j)); }

  // 2-opt: tour[i + 1 … j] the other way round.
  bool reverse_runs() {
    bool has_improved = false;
    const std::size_t n = tour_.size();
    for (std::size_t i = 0; i + 1 < n; ++i)
      for (std::size_t j = i + 2; j < n; ++j) {
        if (i == 0 && j + 1 == n) continue;  // the whole tour
        const double gain = hop(i, i + 1) + hop(j, j + 1) - hop(i, j) - hop(i + 1, j + 1);
        if (gain <= least_gain_) continue;
        std::reverse(begin(i + 1), begin(j + 1));
        has_improved = true;
      }
    return has_improved;
  }

  // Or-opt: a run of up to three sites to another place, either way round.
  bool move_runs() {
    bool has_improved = false;
    const std::size_t n = tour_.size();
    for (std::size_t run = 1; run <= kLongestRun && run + 2 <= n; ++run)
      for (std::size_t i = 0; i < n; ++i) has_improved |= move_run(i, run);
    return has_improved;
  }

  bool move_run(std::size_t i, std::size_t run) {
    const std::size_t n = tour_.size(), before = i + n - 1, last = i + run - 1, after = i + run;
    const double freed = hop(before, i) + hop(last, after) - hop(before, after);
    for (std::size_t j = after; j + 1 < i + n; ++j)
      for (const bool turned : {false, true}) {
        const double added =
            (turned ? hop(j, last) + hop(i, j + 1) : hop(j, i) + hop(last, j + 1)) - hop(j, j + 1);
        if (freed - added <= least_gain_) continue;
        put_behind(i, run, j, turned);
        return true;
      }
    return false;
  }

  // The run that begins at i goes between the sites at j and j + 1.
  void put_behind(std::size_t i, std::size_t run, std::size_t j, bool turned) {
    std::rotate(tour_.begin(), begin(i), tour_.end());  // i is 0 now
    if (turned) std::reverse(tour_.begin(), begin(run));
    std::rotate(tour_.begin(), begin(run), begin(j - i + 1));
  }

  std::vector<int>::iterator begin(std::size_t i) { return tour_.begin() + static_cast<std::ptrdiff_t>(i); }

  std::vector<int>& tour_;
  const CostMatrix& cost_;
  double least_gain_;
};

double longest_sending_s(const std::vector<int>& site_of_rank, const HopCosts& hops) {
  double longest = 0;
  for (std::size_t i = 0; i < site_of_rank.size(); ++i)
    longest = std::max(longest,
                       between(hops.sending_s, site_of_rank[i], site_of_rank[(i + 1) % site_of_rank.size()]));
  return longest;
}

std::vector<double> distinct_values(const CostMatrix& matrix) {
  std::vector<double> values;
  for (const auto& row : matrix) values.insert(values.end(), row.begin(), row.end());
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

double largest_of(const CostMatrix& matrix) {
  double largest = 0;
  for (const auto& row : matrix) largest = std::max(largest, *std::max_element(row.begin(), row.end()));
  return largest;
}

// A hop whose sending exceeds `bound` costs more than any tour without such hops.
CostMatrix with_penalty(CostMatrix cost, const CostMatrix& sending, double bound) {
  const double penalty = largest_of(cost) * static_cast<double>(cost.size());
  for (std::size_t i = 0; i < cost.size(); ++i)
    for (std::size_t j = 0; j < cost.size(); ++j)
      if (sending[i][j] > bound) cost[i][j] += penalty;
  return cost;
}

// What the tour visits: some of each site's replicas.
class Stops {
 public:
  explicit Stops(const std::vector<int>& places) {
    const int most = static_cast<int>(places.size()) > kMostSitesOfManyStops ? 1 : kMostStopsOfASite;
    for (std::size_t site = 0; site < places.size(); ++site) {
      const int stops = std::min(places[site], most);
      for (int i = 0; i < stops; ++i) {
        site_.push_back(static_cast<int>(site));
        members_.push_back(i == 0 ? places[site] - stops + 1 : 1);
      }
    }
  }

  CostMatrix between_stops(const CostMatrix& between_sites) const {
    CostMatrix cost(site_.size(), std::vector<double>(site_.size()));
    for (std::size_t i = 0; i < site_.size(); ++i)
      for (std::size_t j = 0; j < site_.size(); ++j)
        if (i != j) cost[i][j] = between(between_sites, site_[i], site_[j]);
    return cost;
  }

  // For each member of the ring its site.
  std::vector<int> sites_along(const std::vector<int>& tour) const {
    std::vector<int> sites;
    for (const int stop : tour)
      sites.insert(sites.end(), as_index(members_[as_index(stop)]), site_[as_index(stop)]);
    return sites;
  }

 private:
  std::vector<int> site_, members_;  // of each stop
};

CostMatrix to_power(const CostMatrix& cost, int power) {
  const double largest = largest_of(cost);
  CostMatrix result = cost;
  if (largest > 0)
    for (auto& row : result)
      for (double& value : row) value = std::pow(value / largest, power);
  return result;
}

double mean_hop_s(const std::vector<int>& site_of_rank, const HopCosts& hops) {
  double sum = 0;
  for (std::size_t i = 0; i < site_of_rank.size(); ++i) {
    const int number = site_of_rank[i], other = site_of_rank[(i + 1) % site_of_rank.size()];
    sum += between(hops.latency_s, number, other) + between(hops.sending_s, number, other);
  }
  return sum / static_cast<double>(site_of_rank.size());
}

// The best of those that it was given: the shortest round, of equal rounds the least mean of its hops, and
// the first of those that are equal in both. Of rings whose rounds a slow link decides all are equal, be that
// link crossed once or by every hop.
class BestRing {
 public:
  explicit BestRing(const HopCosts& hops) : hops_(hops) {}

  void take(const std::vector<int>& ring) {
    const double round_s = ring_round_s(ring, hops_), mean_s = mean_hop_s(ring, hops_);
    const bool is_equal = std::abs(round_s - round_s_) <= 1e-9 * round_s_;
    if (!ring_.empty() && !(is_equal ? mean_s < mean_s_ * (1 - 1e-9) : round_s < round_s_)) return;
    ring_ = ring;
    round_s_ = round_s;
    mean_s_ = mean_s;
  }

  const std::vector<int>& ring() const { return ring_; }

 private:
  const HopCosts& hops_;
  std::vector<int> ring_;
  double round_s_ = 0, mean_s_ = 0;
};

}  // namespace

CostMatrix HopCosts::sum() const {
  CostMatrix cost = latency_s;
  for (std::size_t i = 0; i < cost.size(); ++i)
    for (std::size_t j = 0; j < cost.size(); ++j) cost[i][j] += sending_s[i][j];
  return cost;
}

double ring_round_s(const std::vector<int>& site_of_rank, const HopCosts& hops) {
  return std::max(mean_hop_s(site_of_rank, hops), longest_sending_s(site_of_rank, hops));
}

std::vector<int> short_tour(const CostMatrix& cost) {
  const int stops = static_cast<int>(cost.size());
  const int starts = stops > kMostStopsOfManyStarts ? 1 : std::min(stops, kMostStarts);
  std::vector<int> best;
  for (int start = 0; start < starts; ++start) {
    std::vector<int> tour = nearest_neighbours(start * stops / starts, cost);
    Improvement(tour, cost).run();
    if (best.empty() || length(tour, cost) < length(best, cost) * (1 - 1e-9)) best = std::move(tour);
  }
  std::rotate(best.begin(), std::find(best.begin(), best.end(), 0), best.end());
  return best;
}

std::vector<int> best_ring(const std::vector<int>& places, const HopCosts& hops) {
  std::vector<int> blocks;
  for (std::size_t site = 0; site < places.size(); ++site)
    blocks.insert(blocks.end(), as_index(places[site]), static_cast<int>(site));
  BestRing best(hops);
  best.take(blocks);
  if (blocks.size() <= kMostOfAllRings) {
    while (std::next_permutation(blocks.begin() + 1, blocks.end())) best.take(blocks);  // a ring has no first
    return best.ring();
  }
  const Stops stops(places);
  const CostMatrix cost = stops.between_stops(hops.sum());
  const auto take = [&](const CostMatrix& tour_cost) {
    const std::vector<int> ring = stops.sites_along(short_tour(tour_cost));
    best.take(ring);
    return ring;
  };
  const std::vector<int> shortest = take(cost);
  if (longest_sending_s(shortest, hops) < ring_round_s(shortest, hops))
    return best.ring();  // its mean decides
  for (const int power : {2, 4, 8, 16}) take(to_power(cost, power));

  // A stricter bound on what a hop may take to send makes the tour longer: bisection to where both decide.
  const CostMatrix sending = stops.between_stops(hops.sending_s);
  const std::vector<double> bounds = distinct_values(sending);
  std::size_t low = 0, high = bounds.size();
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    const std::vector<int> ring = take(with_penalty(cost, sending, bounds[middle - 1]));
    const double longest_s = longest_sending_s(ring, hops);
    const bool is_sending_too_long = longest_s <= bounds[middle - 1] && longest_s >= ring_round_s(ring, hops);
    (is_sending_too_long ? high : low) = middle;
  }
  return best.ring();
}

}  // namespace longhaul
