#include "replay/optimized_order.h"

#include <algorithm>
#include <numeric>

#include "core/index.h"
#include "net/collectives/collective.h"
#include "net/placement.h"
#include "net/site_tour.h"
#include "net/tcp/connection.h"
#include "net/topologies/registry.h"
#include "replay/exchange_run.h"
#include "replay/network/analytic_network.h"
#include "replay/network/clock.h"

namespace longhaul {
namespace {

constexpr std::int64_t kMostMessages = 300000;

std::string collective_of(const Case& one) {
  return one.method.options.is_object() ? one.method.options.value("all_reduce", "ring") : "ring";
}

// What one member contributes to one all-reduce.
std::int64_t vector_bytes(const Case& one) {
  const bool overlaps =
      one.method.options.is_object() && one.method.options.value("overlap_backward", 0.) > 0;
  const std::int64_t buckets = overlaps ? one.method.options.at("buckets").get<int>() : 1;
  return one.workload.parameters * bytes_per_parameter(one.workload.wire) / buckets;
}

// Sites by their places.
struct Sites {
  std::vector<int> first, count;  // place, places

  explicit Sites(const std::vector<int>& site_of) {
    for (std::size_t place = 0; place < site_of.size(); ++place) {
      if (place == 0 || site_of[place] != site_of[place - 1]) {
        first.push_back(static_cast<int>(place));
        count.push_back(0);
      }
      ++count.back();
    }
  }
  int size() const { return static_cast<int>(first.size()); }
};

HopCosts hop_costs(const Case& one, const Topology& blocks, const Sites& sites, double chunk_bytes) {
  const auto size = as_index(sites.size());
  HopCosts hops{CostMatrix(size, std::vector<double>(size)), CostMatrix(size, std::vector<double>(size))};
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = i; j < size; ++j) {
      if (i == j && sites.count[i] < 2) continue;
      const int from = sites.first[i], to = i == j ? from + 1 : sites.first[j];
      const ConnectionFacts facts = connection_facts(blocks, one.network.tcp, from, to);
      const double rate = alone_rate(facts, one.network.tcp.segment, one.network.tcp.connections);
      hops.latency_s[i][j] = hops.latency_s[j][i] = facts.delay_s;
      hops.sending_s[i][j] = hops.sending_s[j][i] = chunk_bytes / rate;
    }
  return hops;
}

std::vector<int> places_along(const std::vector<int>& order, const Sites& sites) {
  std::vector<int> places;
  for (const int site : order)
    for (int i = 0; i < sites.count[as_index(site)]; ++i) places.push_back(sites.first[as_index(site)] + i);
  return places;
}

// For each rank the next free place of its site.
std::vector<int> places_at(const std::vector<int>& site_of_rank, const Sites& sites) {
  std::vector<int> next = sites.first, places;
  for (const int site : site_of_rank) places.push_back(next[as_index(site)]++);
  return places;
}

// The tour opened at its longest hop: the two ends are far from each other. On equality at the last one.
std::vector<int> cut_at_longest_hop(std::vector<int> tour, const CostMatrix& cost) {
  std::size_t begin = 0;
  double longest = -1;
  for (std::size_t i = 0; i < tour.size(); ++i) {
    const auto here = as_index(tour[i]), next = as_index(tour[(i + 1) % tour.size()]);
    if (cost[here][next] < longest) continue;
    longest = cost[here][next];
    begin = (i + 1) % tour.size();
  }
  std::rotate(tour.begin(), tour.begin() + static_cast<std::ptrdiff_t>(begin), tour.end());
  return tour;
}

// Deals `places` out to the ranks by reversed bits: neighbours in it become ranks that are p/2 apart, p the
// largest power of two; a surplus rank stands beside the member that serves it.
std::vector<int> by_reversed_bits(const std::vector<int>& places) {
  const int n = static_cast<int>(places.size()), levels = floor_log2(n), core = 1 << levels;
  std::vector<int> dealt(places.size());
  std::size_t next = 0;
  for (int i = 0; i < core; ++i) {
    int rank = 0;
    for (int bit = 0; bit < levels; ++bit) rank |= (i >> bit & 1) << (levels - 1 - bit);
    for (; rank < n; rank += core) dealt[as_index(rank)] = places[next++];
  }
  return dealt;
}

// The mean time of the all-reduce over an order of ranks.
class Estimate {
 public:
  Estimate(const Case& one, const Topology& blocks)
      : network_(one.network, blocks, one.seed, clock_),
        context_{clock_, network_, blocks.site_of()},
        bytes_(vector_bytes(one)) {
    rule_.collective = collective_of(one);
    rule_.payload = whole({"vector"}, Wire::kBf16);
  }

  double seconds(const std::vector<int>& places) {
    const double begin_s = clock_.now_s();
    ExchangeRun run(context_, rule_, 0, 1, places, bytes_, [](int) {});
    for (const int place : places) run.post(place);
    clock_.run();
    double sum = 0;
    for (const int place : places) sum += seconds_between(begin_s, run.times(place).done_s);
    messages_ += run.transfers();
    return sum / static_cast<double>(places.size());
  }
  bool has_messages_left() const { return messages_ < kMostMessages; }

 private:
  EventQueue clock_;
  AnalyticNetwork network_;
  ExchangeContext context_;
  OperationRule rule_;
  std::int64_t bytes_;
  std::int64_t messages_ = 0;
};

// The best order so far. Later ones must be better by more than rounding.
struct Best {
  std::vector<int> places;
  double seconds = 0;

  bool take(const std::vector<int>& other, Estimate& estimate) {
    const double other_s = estimate.seconds(other);
    if (!places.empty() && other_s >= seconds * (1 - 1e-9)) return false;
    places = other;
    seconds = other_s;
    return true;
  }
};

std::vector<int> order_for_rounds(const Case& one, const Topology& blocks, const Sites& sites,
                                  const HopCosts& hops) {
  std::vector<int> as_written(as_index(sites.size()));
  std::iota(as_written.begin(), as_written.end(), 0);
  const CostMatrix cost = hops.sum();
  const std::vector<int> near = cut_at_longest_hop(short_tour(cost), cost);

  Estimate estimate(one, blocks);
  Best best;
  std::vector<int> order = near;
  best.take(places_along(near, sites), estimate);
  if (best.take(places_along(as_written, sites), estimate)) order = as_written;
  best.take(round_robin_places(sites.count), estimate);
  bool reverses_bits = false;
  for (const std::vector<int>& sites_order : {near, as_written})
    if (best.take(by_reversed_bits(places_along(sites_order, sites)), estimate)) {
      order = sites_order;
      reverses_bits = true;
    }
  for (bool has_improved = true; has_improved;) {
    has_improved = false;
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::size_t j = i + 1; j < order.size() && estimate.has_messages_left(); ++j) {
        std::swap(order[i], order[j]);
        const std::vector<int> along = places_along(order, sites);
        const bool is_better = best.take(reverses_bits ? by_reversed_bits(along) : along, estimate);
        has_improved |= is_better;
        if (!is_better) std::swap(order[i], order[j]);
      }
  }
  return best.places;
}

}  // namespace

std::vector<int> optimized_places(const Case& one, const Topology& blocks) {
  const Sites sites(blocks.site_of());
  const std::string collective = collective_of(one);
  const auto bytes = static_cast<double>(vector_bytes(one));
  if (collective == "ring")
    return places_at(best_ring(sites.count, hop_costs(one, blocks, sites, bytes / one.replicas)), sites);
  if (collective == "hierarchical")  // a ring of one leader a site
    return places_along(best_ring(std::vector<int>(sites.count.size(), 1),
                                  hop_costs(one, blocks, sites, bytes / sites.size())),
                        sites);
  return order_for_rounds(one, blocks, sites, hop_costs(one, blocks, sites, bytes));
}

Case with_optimized_order(const Case& one) {
  Case placed = one;
  placed.network.rank_order = {};
  placed.network.overrides.clear();  // a replica's link would move with the order that is looked for
  std::vector<int> places = optimized_places(placed, build_topology(placed));
  placed.network.overrides = one.network.overrides;
  placed.network.rank_order = {RankOrderSpec::Kind::kList, std::move(places)};
  return placed;
}

Topology placed_topology(const Case& one) {
  const bool is_optimized = one.network.rank_order.kind == RankOrderSpec::Kind::kOptimized;
  return build_topology(is_optimized ? with_optimized_order(one) : one);
}

}  // namespace longhaul
