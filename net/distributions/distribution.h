// How a version of the trainers' weights comes to the groups of rollouts: along which ways its parts travel.
// Each is one file of this folder; distribution.cc lists them all.
//
// A part is what one source sends. It goes along a tree of hosts: each passes pieces on, in their order, to
// the hosts below it as they arrive.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/scenario/case.h"

namespace longhaul {

struct WeightTree {
  int source = 0;
  std::int64_t bytes = 0;
  // By host: to whom it passes on, in this order. Those below a store ask it for each piece.
  std::vector<std::vector<int>> next;
};

// What the trees are made of. Hosts are those of the case.
struct WeightPlaces {
  std::vector<int> sources, groups;
  int store = -1;            // none
  std::vector<int> site_of;  // by host; empty: there are no sites
  int hosts = 0;
  int fan_out = 2;
};

struct WeightDistribution {
  std::string name, meaning;
  // The ways of the part of source number `part`, of as many as there are.
  std::vector<std::vector<int>> (*next)(const WeightPlaces& places, int part);
};

// In the order of the lists.
const std::vector<WeightDistribution>& weight_distributions();

// `site_of`: by host, of the case's topology.
WeightPlaces weight_places(const Case& config, const std::vector<int>& site_of);

// One tree a source; parts differ by a byte at most. Each group is in each tree once.
std::vector<WeightTree> weight_trees(const Case& config, const std::vector<int>& site_of);

// From whom to whom anything is sent, a store's requests included.
std::vector<std::pair<int, int>> weight_connections(const Case& config, const std::vector<int>& site_of);

// The groups, those of each site together, the sites in the order of their first group; turned by `part` of
// `parts` places, so that parts begin at different groups.
std::vector<std::vector<int>> groups_by_site(const WeightPlaces& places, int part);

// Below `root` a tree in which each has `fan_out` below it, filled level by level in the order of `members`.
void add_heap(int root, const std::vector<int>& members, int fan_out, std::vector<std::vector<int>>& next);

// Each declared in its file.
WeightDistribution broadcast_distribution();
WeightDistribution relay_tree_distribution();
WeightDistribution chain_distribution();
WeightDistribution store_distribution();

}  // namespace longhaul
