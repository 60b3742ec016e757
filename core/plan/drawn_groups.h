// Groups that are drawn anew for each outer step, from (seed, step) alone.
#pragma once

#include <cstdint>
#include <vector>

namespace longhaul {

// The random groups of the outer step at `step`: a permutation π of the replicas from (seed, step); group k
// is π[k], π[k + N/n], … (NoLoCo's pairing for n = 2). replicas must be a multiple of group_size.
std::vector<std::vector<int>> random_groups(std::uint64_t seed, int replicas, int group_size, int step);

// The groups of `group_size` of the outer step at `step` that know of sites; `site_of` by replica. Drawn from
// the same permutation π as random_groups, and different for each step.
//
// Inside: the replicas of a site, in the order of π, are cut into groups; those that are left over (of a site
// whose size is no multiple of group_size: one of three in pairs) form groups together, in the order of π,
// across sites. Across: random_groups, in which members that share a site with another of their group change
// places with members of other groups while that leaves fewer such members. In pairs none is left where no
// site has more than half of the replicas.
std::vector<std::vector<int>> groups_inside_sites(std::uint64_t seed, const std::vector<int>& site_of,
                                                  int group_size, int step);
std::vector<std::vector<int>> groups_across_sites(std::uint64_t seed, const std::vector<int>& site_of,
                                                  int group_size, int step);

}  // namespace longhaul
