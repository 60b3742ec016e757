#include "net/rank_order.h"

#include <numeric>
#include <stdexcept>

#include "core/index.h"
#include "core/random.h"

namespace longhaul {
namespace {

std::vector<int> places_at(const Placement& placement) {
  std::vector<int> counts;
  for (const auto& [site, count] : placement) counts.push_back(count);
  return counts;
}

std::vector<int> identity(int n) {
  std::vector<int> places(as_index(n));
  std::iota(places.begin(), places.end(), 0);
  return places;
}

}  // namespace

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
  const std::vector<int> counts = places_at(placement);
  const int replicas = std::accumulate(counts.begin(), counts.end(), 0);
  switch (order.kind) {
    case RankOrderSpec::Kind::kBlocks:
      return identity(replicas);
    case RankOrderSpec::Kind::kRoundRobin:
      return round_robin_places(counts);
    case RankOrderSpec::Kind::kRandom: {
      RandomStream stream(seed, Purpose::kRankOrder);
      return random_permutation(replicas, stream);
    }
    case RankOrderSpec::Kind::kList:
      return order.places;
    case RankOrderSpec::Kind::kOptimized:
      break;
  }
  throw std::logic_error("an optimized order needs the paths of the network");
}

}  // namespace longhaul
