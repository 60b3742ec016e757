// The key network.rank_order of a resolved case.
#include "core/case_parts.h"
#include "core/errors.h"
#include "core/index.h"

namespace longhaul {
namespace {

constexpr char kPath[] = "network.rank_order";

const std::vector<std::pair<RankOrderSpec::Kind, std::string>>& names() {
  using Kind = RankOrderSpec::Kind;
  static const std::vector<std::pair<Kind, std::string>> all = {{Kind::kBlocks, "blocks"},
                                                                {Kind::kRoundRobin, "round-robin"},
                                                                {Kind::kRandom, "random"},
                                                                {Kind::kOptimized, "optimized"},
                                                                {Kind::kList, "list"}};
  return all;
}

std::string allowed_list(int replicas) {
  return "every place from 0 to " + std::to_string(replicas - 1) + " once: entry r is the place of rank r";
}

std::vector<int> parse_places(const Json& json, int replicas) {
  if (static_cast<int>(json.size()) != replicas)
    throw InputError(kPath,
                     "found " + std::to_string(json.size()) + " places, the scenario has " +
                         std::to_string(replicas) + " replicas",
                     allowed_list(replicas));
  const auto places = json.get<std::vector<int>>();
  std::vector<int> rank_at(places.size(), -1);
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const int place = places[rank];
    if (place < 0 || place >= replicas)
      throw InputError(element_path(kPath, rank), "found the place " + std::to_string(place),
                       allowed_list(replicas));
    int& taken_by = rank_at[as_index(place)];
    if (taken_by >= 0)
      throw InputError(element_path(kPath, rank),
                       "found the place " + std::to_string(place) + ", which rank " +
                           std::to_string(taken_by) + " has already",
                       allowed_list(replicas));
    taken_by = static_cast<int>(rank);
  }
  return places;
}

}  // namespace

std::string to_string(RankOrderSpec::Kind kind) {
  for (const auto& [one, name] : names())
    if (one == kind) return name;
  return "?";
}

RankOrderSpec parse_rank_order(const Json& json, int replicas) {
  if (json.is_array()) return {RankOrderSpec::Kind::kList, parse_places(json, replicas)};
  for (const auto& [kind, name] : names())
    if (json == name) return {kind, {}};
  throw InputError(kPath, "found " + json.dump(), "an order (longhaul list options)");
}

}  // namespace longhaul
