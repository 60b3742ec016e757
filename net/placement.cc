#include "net/placement.h"

#include <fmt/core.h>

#include <numeric>
#include <stdexcept>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/random.h"
#include "core/base/ranges.h"
#include "core/base/units.h"

namespace longhaul {
AccessLinks parse_access_links(const Json& json, const std::string& path) {
  AccessLinks links;
  links.rtt = parse_duration(json.at("rtt"));
  const bool both = json.contains("up") && json.contains("down"),
             any = json.contains("up") || json.contains("down");
  if (json.contains("rate") == any || any != both)
    throw InputError(path, "found " + json.dump(), "either rate, or up and down");
  links.up = parse_rate(json.value("up", json.value("rate", "")));
  links.down = parse_rate(json.value("down", json.value("rate", "")));
  return links;
}

std::string rates_in_words(const Json& json) {
  if (!member(json, "rate").is_null()) return text_of(json, "rate");
  return fmt::format("{} up, {} down", text_of(json, "up"), text_of(json, "down"));
}

Placement parse_placement(const Json& json, int replicas, const std::string& path) {
  Placement placement;
  std::int64_t placed = 0;
  for (const auto& [site, count] : json.items()) {
    placement.push_back({site, count.get<int>()});
    placed += count.get<int>();
  }
  if (placed != replicas)
    throw InputError(path, fmt::format("places {} replicas, the scenario has {}", placed, replicas),
                     "counts that add up to replicas, or \"even\"");
  return placement;
}

Placement spread_evenly(Placement sites, int replicas) {
  const int count = static_cast<int>(sites.size());
  for (int i = 0; i < count; ++i) sites[as_index(i)].second = replicas / count + (i < replicas % count);
  return sites;
}

Placement without_empty_sites(Placement sites) {
  drop_if(sites, [](const auto& site) { return site.second == 0; });
  return sites;
}

// A misspelt site must not become a silent default: list what there is.
void check_site_known(const std::string& site, const std::vector<std::string>& known,
                      const std::string& path) {
  constexpr std::size_t kMostShown = 30;
  if (!contains(known, site))
    throw InputError(path, fmt::format("found an unknown site \"{}\"", site), join_some(known, kMostShown),
                     did_you_mean(site, known));
}

void check_sites_known(const Placement& sites, const std::vector<std::string>& known,
                       const std::string& path) {
  for (const auto& [site, count] : sites) check_site_known(site, known, path + "." + site);
}

// That of the router at which it is.
std::string site_name(const Topology& topology, int host) {
  const auto access = find_if(topology.links(), [&](const Link& link) { return link.first == host; });
  return topology.node_name(access->second);
}

Topology hosts_of(const Case& config, Routing routing) {
  Topology topology(config.hosts(), routing);
  if (!config.rollouts) return topology;
  for (int group = 0; group < config.rollouts->groups; ++group)
    topology.name_node(config.host_of_group(group), fmt::format("rollout{}", group));
  if (config.rollouts->has_store()) topology.name_node(config.host_of_store(), "store");
  return topology;
}

Placement with_sites_of_rollouts(Placement placement, const Case& config,
                                 const std::vector<std::string>& known) {
  if (!config.rollouts) return placement;
  const RolloutSpec& rollouts = *config.rollouts;
  if (rollouts.places.empty())
    throw InputError("rollouts.sites", "this key is missing", "{site: groups}",
                     "the topology has sites, and the groups stand at some of them");
  const auto add = [&](const std::string& site, const std::string& path) {
    check_site_known(site, known, path);
    if (none_of(placement, [&](const auto& at) { return at.first == site; })) placement.push_back({site, 0});
  };
  const Json sites = member(member(config.resolved, "rollouts"), "sites");
  for (std::size_t i = 0; i < rollouts.places.size(); ++i) {
    const auto& [site, count] = rollouts.places[i];
    const std::string path = "rollouts.sites";
    if (count > 0) add(site, sites.is_array() ? element_path(path, i) : path + "." + site);
  }
  if (!rollouts.has_store()) return placement;
  if (rollouts.weights.store.site.empty())
    throw InputError("rollouts.weights.store.site", "this key is missing", join_some(known, 30),
                     "the topology has sites, and the store stands at one of them");
  add(rollouts.weights.store.site, "rollouts.weights.store.site");
  return placement;
}

void refuse_places_of_rollouts(const Case& config) {
  if (!config.rollouts) return;
  const std::string name = config.network.topology.name;
  if (!config.rollouts->places.empty())
    throw InputError("rollouts.sites", "found on topology \"" + name + "\"", "a topology with sites",
                     "this one has none: all hosts are alike");
  if (!config.rollouts->weights.store.site.empty())
    throw InputError("rollouts.weights.store.site", "found on topology \"" + name + "\"",
                     "a topology with sites", "this one has none: all hosts are alike");
  if (config.rollouts->prices && config.rollouts->prices->egress_gb > 0)
    throw InputError("rollouts.prices.egress_gb",
                     fmt::format("found {:g} on topology \"{}\"", config.rollouts->prices->egress_gb, name),
                     "0, or a topology with sites", "this one has none: nothing is known to leave a site");
}

AccessLinks access_of(int host, const AccessLinks& access, const Case& config) {
  const bool is_store = config.rollouts && config.rollouts->has_store() && host == config.host_of_store();
  if (!is_store || !config.rollouts->weights.store.rate) return access;
  const double rate = *config.rollouts->weights.store.rate;
  return {rate, rate, access.rtt};
}

namespace {

// By host, an index of `placement`.
std::vector<std::size_t> sites_of_hosts(const Placement& placement, const Case& config) {
  std::vector<std::size_t> site_of_place, site_of;
  for (std::size_t site = 0; site < placement.size(); ++site)
    site_of_place.insert(site_of_place.end(), as_index(placement[site].second), site);
  for (const int place : places_of_ranks(config.network.rank_order, placement, config.seed))
    site_of.push_back(site_of_place[as_index(place)]);
  if (!config.rollouts) return site_of;
  const auto number_of = [&](const std::string& name) {
    return as_index(find_if(placement, [&](const auto& at) { return at.first == name; }) - placement.begin());
  };
  for (const auto& [name, count] : config.rollouts->places)
    if (count > 0) site_of.insert(site_of.end(), as_index(count), number_of(name));
  if (config.rollouts->has_store()) site_of.push_back(number_of(config.rollouts->weights.store.site));
  return site_of;
}

}  // namespace

void attach_replicas(Topology& topology, const Placement& placement, const std::vector<int>& routers,
                     const AccessLinks& access, const Case& config) {
  std::vector<int> site_of;
  for (const std::size_t site : sites_of_hosts(placement, config)) {
    const int host = static_cast<int>(site_of.size());
    const AccessLinks own = access_of(host, access, config);
    topology.add_link({topology.node_name(host) + "-" + placement[site].first, host, routers[site], own.up,
                       own.down, own.rtt / 4});
    site_of.push_back(static_cast<int>(site));
  }
  topology.set_sites(std::move(site_of));
}

std::vector<int> round_robin_places(const std::vector<int>& places_at) {
  const int total = std::accumulate(places_at.begin(), places_at.end(), 0);
  std::vector<int> places;
  for (int turn = 0; static_cast<int>(places.size()) < total; ++turn) {
    int first = 0;  // place of the site
    for (const int count : places_at) {
      if (turn < count) places.push_back(first + turn);
      first += count;
    }
  }
  return places;
}

std::vector<int> places_of_ranks(const RankOrderSpec& order, const Placement& placement, std::uint64_t seed) {
  std::vector<int> places_at = each_of(placement, &Placement::value_type::second);  // by site
  const int replicas = std::accumulate(places_at.begin(), places_at.end(), 0);
  switch (order.kind) {
    case RankOrderSpec::Kind::kBlocks: {
      std::vector<int> places(as_index(replicas));
      std::iota(places.begin(), places.end(), 0);
      return places;
    }
    case RankOrderSpec::Kind::kRoundRobin:
      return round_robin_places(places_at);
    case RankOrderSpec::Kind::kRandom: {
      RandomStream stream(seed, Purpose::kRankOrder);
      return random_permutation(replicas, stream);
    }
    case RankOrderSpec::Kind::kList:
      return order.places;
    case RankOrderSpec::Kind::kOptimized:
      if (!order.places.empty()) return order.places;
      break;
  }
  throw std::logic_error("an optimized order needs the paths of the network");
}

}  // namespace longhaul
