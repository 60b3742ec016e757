#include "core/plan/drawn_groups.h"

#include <map>

#include "core/index.h"
#include "core/random.h"

namespace longhaul {
namespace {

using Group = std::vector<int>;

int site_at(const std::vector<int>& site_of, int replica) {
  return site_of[as_index(replica)];
}

// Members of `group` other than place `me` that are at the site of `replica`.
int others_at_site(const Group& group, std::size_t me, int replica, const std::vector<int>& site_of) {
  int count = 0;
  for (std::size_t i = 0; i < group.size(); ++i)
    count += i != me && site_at(site_of, group[i]) == site_at(site_of, replica);
  return count;
}

// Lets groups[g][i] change places with the first member, group after group, for which fewer pairs of members
// share a site. Whether there was one.
bool change_places(std::vector<Group>& groups, std::size_t g, std::size_t i,
                   const std::vector<int>& site_of) {
  int& mine = groups[g][i];
  const int shared = others_at_site(groups[g], i, mine, site_of);
  for (std::size_t k = 1; k < groups.size(); ++k) {
    Group& other = groups[(g + k) % groups.size()];
    for (std::size_t j = 0; j < other.size(); ++j) {
      const int before = shared + others_at_site(other, j, other[j], site_of);
      const int after =
          others_at_site(groups[g], i, other[j], site_of) + others_at_site(other, j, mine, site_of);
      if (after >= before) continue;
      std::swap(mine, other[j]);
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::vector<int>> random_groups(std::uint64_t seed, int replicas, int group_size, int step) {
  RandomStream stream(seed, Purpose::kGroups, 0, static_cast<std::uint32_t>(step));
  const std::vector<int> order = random_permutation(replicas, stream);
  const int count = replicas / group_size;
  std::vector<std::vector<int>> groups(as_index(count));
  for (int i = 0; i < count * group_size; ++i) groups[as_index(i % count)].push_back(order[as_index(i)]);
  return groups;
}

std::vector<std::vector<int>> groups_inside_sites(std::uint64_t seed, const std::vector<int>& site_of,
                                                  int group_size, int step) {
  RandomStream stream(seed, Purpose::kGroups, 0, static_cast<std::uint32_t>(step));
  const std::vector<int> order = random_permutation(static_cast<int>(site_of.size()), stream);
  std::map<int, int> places_left;  // of a site, in whole groups
  for (const int site : site_of) ++places_left[site];
  for (auto& [site, count] : places_left) count -= count % group_size;
  std::map<int, Group> open;  // by site
  std::vector<Group> groups;
  Group left_over;
  const auto add = [&](Group& group, int replica) {
    group.push_back(replica);
    if (static_cast<int>(group.size()) < group_size) return;
    groups.push_back(std::move(group));
    group.clear();
  };
  for (const int replica : order) {
    const int site = site_at(site_of, replica);
    add(places_left[site] > 0 ? open[site] : left_over, replica);
    --places_left[site];
  }
  return groups;
}

std::vector<std::vector<int>> groups_across_sites(std::uint64_t seed, const std::vector<int>& site_of,
                                                  int group_size, int step) {
  std::vector<Group> groups = random_groups(seed, static_cast<int>(site_of.size()), group_size, step);
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (std::size_t i = 0; i < groups[g].size(); ++i)
        if (others_at_site(groups[g], i, groups[g][i], site_of) > 0)
          has_changed |= change_places(groups, g, i, site_of);
  }
  return groups;
}

}  // namespace longhaul
