#include "replay/placement/optimized_order.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "core/base/index.h"
#include "core/base/units.h"
#include "net/library.h"
#include "net/placement.h"
#include "net/site_tour.h"
#include "net/topologies/registry.h"
#include "replay/placement/cost_graph.h"
#include "replay/placement/search.h"
#include "replay/placement/site_paths.h"
#include "replay/placement/step_objective.h"

namespace longhaul {
namespace {

// Messages and passes that are evaluated in a search, one worker of an assignment counted as one: some 0.1 s.
constexpr std::int64_t kMostEvaluated = 6000000;
constexpr std::int64_t kMostOfStages = 2 * kMostEvaluated;  // a pass has a message too

// Messages of one all-reduce whose order can be kept: some 0.8 GB.
constexpr std::int64_t kMostMessages = 4000000;

constexpr std::size_t kMostWords = 400;  // letters

// Operations of the average that has most of them. Without a plan: buckets of equal size.
int operations_of_average(const Case& config, const OperationPlan& plan) {
  int most = 1;
  for (const OperationRule& rule : plan.rules) most = std::max(most, operation_count(rule));
  if (!plan.rules.empty()) return most;
  const Json& options = config.method.options;
  const bool overlaps = options.is_object() && options.value("overlap_backward", 0.) > 0;
  return overlaps ? options.at("buckets").get<int>() : 1;
}

// One all-reduce among all: what a member contributes, and how.
struct OneAllReduce {
  std::int64_t bytes = 0;  // of several operations of an average: their mean
  const Collective& collective;
};

// The average among everyone that sends most, with its codec, columns and collective. Of a method that has
// none, and without a plan, an all-reduce of the whole vector stands for what it does.
OneAllReduce one_all_reduce(const Case& config, const OperationPlan& plan) {
  const OperationRule* most = nullptr;
  std::int64_t most_bytes = 0;
  for (const OperationRule& rule : plan.rules) {
    const bool is_average = rule.kind == OperationKind::kAllReduce || rule.kind == OperationKind::kAllGather;
    if (!is_average || rule.grouping != Grouping::kEveryone || rule.stage >= 0) continue;
    const std::int64_t rule_bytes =
        payload_bytes(rule, config.workload.parameters, config.workers()) / operation_count(rule);
    if (rule_bytes <= most_bytes) continue;
    most = &rule;
    most_bytes = rule_bytes;
  }
  if (most) return {most_bytes, collective_of(config.network, *most, {config.workers(), most_bytes})};
  const std::int64_t bytes = config.workload.parameters * bytes_per_parameter(config.workload.wire) /
                             operations_of_average(config, plan);
  OperationRule rule;
  rule.collective =
      config.method.options.is_object() ? config.method.options.value("all_reduce", "ring") : "ring";
  return {bytes, collective_of(config.network, rule, {config.workers(), bytes})};
}

// Of an order of sites the site of each worker, all of a site side by side.
std::vector<int> sites_along(const std::vector<int>& order, const SitePaths& paths) {
  std::vector<int> site_of;
  for (const int site : order) site_of.insert(site_of.end(), as_index(paths.places()[as_index(site)]), site);
  return site_of;
}

std::vector<int> round_robin_sites(const SitePaths& paths) {
  return paths.sites_of(round_robin_places(paths.places()));
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

// The sites in the order in which the scenario has them, and along a short tour.
struct SiteOrders {
  std::vector<int> as_written, near;

  SiteOrders(const SitePaths& paths, double bytes) : as_written(as_index(paths.sites())) {
    std::iota(as_written.begin(), as_written.end(), 0);
    const CostMatrix cost = paths.hop_costs(bytes).sum();
    near = cut_at_longest_hop(short_tour(cost), cost);
  }
};

// Deals the sites out to the ranks by reversed bits: neighbours become ranks that are p/2 apart, p the
// largest power of two; a surplus rank stands beside the member that serves it.
std::vector<int> by_reversed_bits(const std::vector<int>& sites) {
  const int n = static_cast<int>(sites.size()), levels = floor_log2(n), core = 1 << levels;
  std::vector<int> dealt(sites.size());
  std::size_t next = 0;
  for (int i = 0; i < core; ++i) {
    int rank = 0;
    for (int bit = 0; bit < levels; ++bit) rank |= (i >> bit & 1) << (levels - 1 - bit);
    for (; rank < n; rank += core) dealt[as_index(rank)] = sites[next++];
  }
  return dealt;
}

// Stage after stage instead of replica after replica.
std::vector<int> by_stages(const std::vector<int>& sites, int stages) {
  const int replicas = static_cast<int>(sites.size()) / stages;
  std::vector<int> dealt(sites.size());
  for (int replica = 0; replica < replicas; ++replica)
    for (int stage = 0; stage < stages; ++stage)
      dealt[as_index(replica * stages + stage)] = sites[as_index(stage * replicas + replica)];
  return dealt;
}

// Of some replicas by their numbers: where these stand is what is sought. Others are of places: a site's way
// out, a path between two, all replicas there ("replica*-oslo") or everywhere.
bool goes_with_a_rank(const LinkOverride& one, int replicas) {
  const std::string replica = "replica";
  if (one.link.empty()) return one.replicas != std::pair(0, replicas - 1);
  return one.link.rfind(replica, 0) == 0 && one.link.rfind(replica + "*", 0) != 0;
}

// An objective with the sites that are best for it.
struct Found {
  std::vector<int> site_of;
  PlaceObjective objective;
};

PlaceObjective ring_objective(int rounds, const HopCosts& hops) {
  return [=](const std::vector<int>& site_of) {
    const double seconds = rounds * ring_round_s(site_of, hops);
    return PlaceCost{seconds, seconds};
  };
}

// A hop has a chunk of the vector, or all that a member contributes where contributions go round.
Found for_ring(const Case& config, const OneAllReduce& one, const SitePaths& paths) {
  const GroupExchange exchange{config.workers(), one.bytes, 1, {}};
  const bool has_all = one.collective.unit_bytes(exchange) == one.bytes;
  const auto bytes = static_cast<double>(one.bytes);
  const HopCosts hops = paths.hop_costs(has_all ? bytes : bytes / config.workers());
  const PlaceObjective objective = ring_objective(one.collective.rounds(exchange), hops);
  BestPlaces best;
  best.take(best_ring(paths.places(), hops), objective);
  best.take(round_robin_sites(paths), objective);
  return {best.site_of, objective};
}

// A ring of one leader a site, which is the site's first worker.
Found for_leaders(std::int64_t bytes, const SitePaths& paths) {
  const int sites = paths.sites();
  const HopCosts hops = paths.hop_costs(static_cast<double>(bytes) / sites);
  const PlaceObjective of_leaders = ring_objective(2 * (sites - 1), hops);
  const PlaceObjective objective = [of_leaders](const std::vector<int>& site_of) {
    std::vector<int> leaders;
    for (const int site : site_of)
      if (std::find(leaders.begin(), leaders.end(), site) == leaders.end()) leaders.push_back(site);
    return of_leaders(leaders);
  };
  BestPlaces best;
  best.take(sites_along(best_ring(std::vector<int>(as_index(sites), 1), hops), paths), objective);
  return {best.site_of, objective};
}

// Pairs of sites change places, whole sites at a time.
std::vector<int> with_sites_swapped(BestPlaces best, const SiteOrders& orders, const SitePaths& paths,
                                    const PlaceObjective& objective, const PlaceBudget& has_budget) {
  std::vector<int> order = orders.near;
  bool reverses_bits = false;
  for (const bool reverses : {false, true})
    for (const std::vector<int>& sites : {orders.near, orders.as_written}) {
      const std::vector<int> along = sites_along(sites, paths);
      if (!best.take(reverses ? by_reversed_bits(along) : along, objective)) continue;
      order = sites;
      reverses_bits = reverses;
    }
  for (bool has_improved = true; has_improved;) {
    has_improved = false;
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::size_t j = i + 1; j < order.size() && has_budget(); ++j) {
        std::swap(order[i], order[j]);
        const std::vector<int> along = sites_along(order, paths);
        const bool is_better = best.take(reverses_bits ? by_reversed_bits(along) : along, objective);
        has_improved |= is_better;
        if (!is_better) std::swap(order[i], order[j]);
      }
  }
  return best.site_of;
}

Found for_rounds(const Case& config, const OneAllReduce& one, const SitePaths& paths) {
  const int members = config.workers();
  const GroupExchange exchange{members, one.bytes, 1, {}};
  const std::int64_t messages = one.collective.totals(exchange).transfers;
  if (messages > kMostMessages)
    throw InputError(
        "network.rank_order",
        fmt::format("found \"optimized\" for {} replicas, whose {} has {} messages", members,
                    one.collective.name(), messages),
        fmt::format("at most {} messages, each of which is walked again and again", kMostMessages),
        "\"blocks\", \"round-robin\", \"random\" or a list; a ring; or fewer replicas");
  const auto graph = std::make_shared<CostGraph>(CostGraph::of_exchange(one.collective, exchange));
  const auto evaluated = std::make_shared<std::int64_t>(0);
  const PlaceObjective objective = [graph, evaluated, &paths](const std::vector<int>& site_of) {
    *evaluated += graph->size();
    const double mean_s = graph->times(site_of, paths).mean_s;
    return PlaceCost{mean_s, mean_s};
  };
  if (members <= kMostExact) return {best_of_all(paths.places(), objective), objective};
  const PlaceBudget has_budget = [&] { return *evaluated < kMostEvaluated; };
  const SiteOrders orders(paths, static_cast<double>(one.bytes));
  BestPlaces best;
  const std::vector<int> swapped = with_sites_swapped(best, orders, paths, objective, has_budget);
  best.take(swapped, objective);
  best.take(round_robin_sites(paths), objective);
  return {improved(best.site_of, 1, objective, has_budget), objective};
}

Found for_stages(const Case& config, const OperationPlan& plan, const SitePaths& paths) {
  const auto step = std::make_shared<StepObjective>(config, plan, paths);
  const auto asked = std::make_shared<std::int64_t>(0);
  const PlaceObjective objective = [step, asked](const std::vector<int>& site_of) {
    *asked += static_cast<std::int64_t>(site_of.size());
    return step->cost(site_of);
  };
  if (config.workers() <= kMostExact) return {best_of_all(paths.places(), objective), objective};
  const PipelinePlan& pipeline = plan.pipeline;
  const SiteOrders orders(paths, static_cast<double>(pipeline.forward_bytes.front()));
  std::vector<std::vector<int>> starts;
  for (const std::vector<int>& sites : {orders.as_written, orders.near}) {
    const std::vector<int> along = sites_along(sites, paths);
    starts.push_back(along);
    starts.push_back(by_stages(along, pipeline.stages));
  }
  starts.push_back(round_robin_sites(paths));
  BestPlaces best;
  for (const std::vector<int>& start : starts) {
    const std::int64_t before = step->evaluated() + *asked;
    const PlaceBudget has_budget = [&] { return step->evaluated() + *asked - before < kMostOfStages; };
    best.take(improved(start, pipeline.stages, objective, has_budget), objective);
  }
  return {best.site_of, objective};
}

Found found_for(const Case& config, const OperationPlan& plan, const SitePaths& paths) {
  if (config.pipeline.has_stages()) {
    if (plan.pipeline.stages != config.pipeline.stages)
      throw std::logic_error("places of stages need the plan of their operations");
    return for_stages(config, plan, paths);
  }
  const OneAllReduce one = one_all_reduce(config, plan);
  if (one.collective.shape(config.replicas) == Collective::Shape::kRing) return for_ring(config, one, paths);
  if (one.collective.needs_sites()) return for_leaders(one.bytes, paths);
  return for_rounds(config, one, paths);
}

}  // namespace

Case in_blocks(Case config) {
  config.network.rank_order = {};
  std::vector<LinkOverride>& overrides = config.network.overrides;
  overrides.erase(
      std::remove_if(overrides.begin(), overrides.end(),
                     [&](const LinkOverride& one) { return goes_with_a_rank(one, config.workers()); }),
      overrides.end());
  return config;
}

OptimizedOrder optimized_order(const Case& config, const OperationPlan& plan) {
  check_topology(config);  // one without sites has no order
  const Case blocks = in_blocks(config);
  const SitePaths paths(build_topology(blocks), config.network.tcp);
  const Found found = found_for(blocks, plan, paths);
  std::vector<int> as_written(as_index(paths.sites()));
  std::iota(as_written.begin(), as_written.end(), 0);
  OptimizedOrder order;
  order.places = paths.places_at(found.site_of);
  order.is_of_steps = config.pipeline.has_stages();
  order.seconds = found.objective(found.site_of).seconds;
  order.blocks_s = found.objective(sites_along(as_written, paths)).seconds;
  order.round_robin_s = found.objective(round_robin_sites(paths)).seconds;
  return order;
}

std::string ordered_exchange(const Case& config, const OperationPlan& plan) {
  const OneAllReduce one = one_all_reduce(config, plan);
  return fmt::format("{} of {}", one.collective.name(), one.bytes);
}

Case with_optimized_order(const Case& config, const OperationPlan& plan) {
  Case placed = config;
  RankOrderSpec& order = placed.network.rank_order;
  if (order.kind == RankOrderSpec::Kind::kOptimized && order.places.empty())
    order.places = optimized_order(config, plan).places;
  return placed;
}

Topology placed_topology(const Case& config, const OperationPlan& plan) {
  return build_topology(with_optimized_order(config, plan));
}

std::string gain_in_words(const OptimizedOrder& order) {
  return fmt::format("placement: {} {} by its estimate; blocks {}, round-robin {}",
                     human_duration(order.seconds), order.is_of_steps ? "a step" : "an all-reduce",
                     human_duration(order.blocks_s), human_duration(order.round_robin_s));
}

std::string ranges_in_words(const std::vector<int>& numbers) {
  std::string words;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    words += fmt::format("{}{}", words.empty() ? "" : ", ", numbers[i]);
    if (end - i > 1) words += fmt::format("-{}", numbers[end - 1]);
    i = end;
  }
  return words;
}

std::string places_in_words(const Case& config, const std::vector<int>& places) {
  Case listed = in_blocks(config);
  listed.network.rank_order = {RankOrderSpec::Kind::kList, places};
  const Topology topology = build_topology(listed);
  const int stages = config.pipeline.stages;
  std::vector<std::string> names;                    // by site, in the order of their first worker
  std::vector<std::vector<std::vector<int>>> there;  // stages by site and replica; without stages [site][0]
  for (int worker = 0; worker < config.workers(); ++worker) {
    const std::string& link = topology.links()[as_index(worker)].name;
    const std::string site = link.substr(topology.node_name(worker).size() + 1);
    std::size_t number = as_index(std::find(names.begin(), names.end(), site) - names.begin());
    if (number == names.size()) {
      names.push_back(site);
      there.emplace_back(as_index(stages > 1 ? config.replicas : 1));
    }
    there[number][as_index(stages > 1 ? worker / stages : 0)].push_back(stages > 1 ? worker % stages
                                                                                   : worker);
  }
  std::string words;
  for (std::size_t site = 0; site < names.size(); ++site) {
    if (words.size() > kMostWords) return fmt::format("{}; and {} more sites", words, names.size() - site);
    words += fmt::format("{}{}: ", site == 0 ? "" : "; ", names[site]);
    bool is_first = true;
    for (std::size_t replica = 0; replica < there[site].size(); ++replica) {
      if (there[site][replica].empty()) continue;
      words += is_first ? "" : ", ";
      if (stages > 1) words += fmt::format("r{} s", replica);
      words += ranges_in_words(there[site][replica]);
      is_first = false;
    }
  }
  return words;
}

}  // namespace longhaul
