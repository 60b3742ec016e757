#include "core/plan/target_graphs.h"

#include <algorithm>
#include <numeric>

#include "core/base/index.h"
#include "core/base/random.h"

namespace longhaul {
namespace {

using Neighbours = std::vector<std::vector<int>>;

Neighbours neighbours_along(const std::vector<int>& order) {
  Neighbours neighbours(order.size());
  for (std::size_t at = 0; at < order.size(); ++at) {
    const std::size_t before = (at + order.size() - 1) % order.size(), behind = (at + 1) % order.size();
    neighbours[as_index(order[at])] = {order[before], order[behind]};
  }
  return neighbours;
}

bool have_a_common_edge(const Neighbours& one, const Neighbours& other) {
  for (std::size_t replica = 0; replica < one.size(); ++replica)
    for (const int neighbour : one[replica])
      if (std::find(other[replica].begin(), other[replica].end(), neighbour) != other[replica].end())
        return true;
  return false;
}

}  // namespace

std::vector<std::vector<int>> ring_targets(int replicas) {
  std::vector<int> order(as_index(replicas));
  std::iota(order.begin(), order.end(), 0);
  return neighbours_along(order);
}

std::vector<std::vector<int>> cycle_targets(std::uint64_t seed, int replicas, int cycles, int step) {
  RandomStream stream(seed, Purpose::kGroups, 0, static_cast<std::uint32_t>(step));
  Neighbours all = neighbours_along(random_permutation(replicas, stream));
  for (int cycle = 1; cycle < cycles; ++cycle) {
    Neighbours next;
    do next = neighbours_along(random_permutation(replicas, stream));
    while (have_a_common_edge(all, next));
    for (std::size_t replica = 0; replica < all.size(); ++replica)
      all[replica].insert(all[replica].end(), next[replica].begin(), next[replica].end());
  }
  return all;
}

}  // namespace longhaul
