#include "net/distributions/distribution.h"

#include <algorithm>
#include <set>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {

const std::vector<WeightDistribution>& weight_distributions() {
  static const std::vector<WeightDistribution> all = {broadcast_distribution(), relay_tree_distribution(),
                                                      chain_distribution(), store_distribution()};
  return all;
}

WeightPlaces weight_places(const Case& config, const std::vector<int>& site_of) {
  const RolloutSpec& rollouts = *config.rollouts;
  WeightPlaces places;
  const int sources = rollouts.weights.sources;
  for (int part = 0; part < sources; ++part)
    places.sources.push_back(static_cast<int>(std::int64_t{part} * config.workers() / sources));
  for (int group = 0; group < rollouts.groups; ++group) places.groups.push_back(config.host_of_group(group));
  if (rollouts.has_store()) places.store = config.host_of_store();
  places.site_of = site_of;
  places.hosts = config.hosts();
  places.fan_out = rollouts.weights.fan_out;
  return places;
}

std::vector<WeightTree> weight_trees(const Case& config, const std::vector<int>& site_of) {
  const WeightsSpec& weights = config.rollouts->weights;
  const WeightPlaces places = weight_places(config, site_of);
  const WeightDistribution& distribution =
      find_named(weights.distribution, weight_distributions(), &WeightDistribution::name,
                 "rollouts.weights.distribution");
  std::vector<WeightTree> trees;
  const std::int64_t parts = weights.sources;
  for (std::int64_t part = 0; part < parts; ++part) {
    // Products of bytes and parts would leave 64 bits.
    const std::int64_t bytes = weights.bytes / parts + (part < weights.bytes % parts);
    if (bytes == 0) continue;
    trees.push_back(
        {places.sources[as_index(part)], bytes, distribution.next(places, static_cast<int>(part))});
  }
  return trees;
}

std::vector<std::pair<int, int>> weight_connections(const Case& config, const std::vector<int>& site_of) {
  std::set<std::pair<int, int>> found;
  const int store = config.rollouts->has_store() ? config.host_of_store() : -1;
  for (const WeightTree& tree : weight_trees(config, site_of))
    for (int from = 0; from < static_cast<int>(tree.next.size()); ++from)
      for (const int to : tree.next[as_index(from)]) {
        found.insert({from, to});
        const bool asks = from == store || (to == store ? config.rollouts->weights.store.uploads
                                                        : config.rollouts->weights.requests) > 0;
        if (asks) found.insert({to, from});
      }
  return {found.begin(), found.end()};
}

std::vector<std::vector<int>> groups_by_site(const WeightPlaces& places, int part) {
  std::vector<std::vector<int>> sites;
  std::vector<int> names;
  for (const int group : places.groups) {
    const int site = places.site_of.empty() ? 0 : places.site_of[as_index(group)];
    const auto known = std::find(names.begin(), names.end(), site);
    const std::size_t number = as_index(known - names.begin());
    if (known == names.end()) {
      names.push_back(site);
      sites.emplace_back();
    }
    sites[number].push_back(group);
  }
  const auto turn = [&](auto& list) {
    const std::size_t by = list.size() * as_index(part) / places.sources.size();
    std::rotate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(by), list.end());
  };
  for (std::vector<int>& members : sites) turn(members);
  turn(sites);
  return sites;
}

void add_heap(int root, const std::vector<int>& members, int fan_out, std::vector<std::vector<int>>& next) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::size_t above = i / as_index(fan_out);  // 0: the root; k: member k − 1
    next[as_index(above == 0 ? root : members[above - 1])].push_back(members[i]);
  }
}

}  // namespace longhaul
