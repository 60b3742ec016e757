// The closed forms that the headers of net/collectives/*.cc give and prove: seconds from the moment when all
// are ready until the last is done, on an idle star of equal full-duplex links with `latency_s` one way
// between two replicas, `bytes_per_s` of payload, and no start-up.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>

#include "net/collectives/collective.h"

namespace longhaul {
namespace closed_forms {

// Levels of links in the in-order tree of a double tree over [begin, end).
inline int double_tree_levels(int begin, int end) {
  if (end - begin <= 1) return 0;
  const int root = begin + ((end - begin) / 2 | 1);
  return 1 + std::max(double_tree_levels(begin, root), double_tree_levels(root + 1, end));
}

inline double double_tree_s(int chunks, const GroupExchange& exchange, double latency_s, double bytes_per_s) {
  const int depth = double_tree_levels(0, exchange.members);
  const double chunk_s = std::ceil(static_cast<double>((exchange.bytes + 1) / 2) / chunks) / bytes_per_s;
  if (exchange.members == 2) return 2 * (latency_s + chunks * chunk_s);
  const double one_way_s = depth * latency_s + 2 * (depth + chunks - 1) * chunk_s;
  return 2 * one_way_s + (depth - 1) * (latency_s / 2 + chunk_s);
}

inline double hierarchical_s(const GroupExchange& exchange, double latency_s, double vector_s) {
  std::map<int, int> members;
  for (std::size_t member = 0; member < static_cast<std::size_t>(exchange.members); ++member)
    ++members[exchange.site_of.empty() ? 0 : exchange.site_of[member]];
  int largest = 0;
  for (const auto& [site, count] : members) largest = std::max(largest, count);
  const auto sites = static_cast<int>(members.size());
  const double inside_s = largest > 1 ? 2 * (latency_s + (largest - 1) * vector_s) : 0;
  return inside_s + 2 * (sites - 1) * (latency_s + vector_s / sites);
}

inline double halving_doubling_s(int members, double latency_s, double vector_s) {
  const int levels = floor_log2(members), core = 1 << levels;
  const double core_s = 2 * levels * latency_s + 2. * (core - 1) / core * vector_s;
  return core_s + (members > core ? 2 * (latency_s + vector_s) : 0);
}

inline double reduce_scatter_halving_s(int members, double latency_s, double vector_s) {
  const int levels = floor_log2(members), core = 1 << levels, surplus = members - core;
  double parts = 0;
  for (int half = core / 2; half >= 1; half /= 2) parts += half + std::min(surplus, half);
  const double fold_s = surplus > 0 ? 2 * latency_s + (1 + 1. / members) * vector_s : 0;
  return levels * latency_s + parts / members * vector_s + fold_s;
}

// What Bruck's all-to-all sends of 1/n of the vector: the bits that are set in 1 … n − 1.
inline int bruck_parts(int members) {
  int parts = 0;
  for (int distance = 1; distance < members; ++distance)
    for (int rest = distance; rest > 0; rest /= 2) parts += rest % 2;
  return parts;
}

inline double recursive_doubling_s(int members, double latency_s, double vector_s) {
  const int levels = floor_log2(members), folds = members > 1 << levels ? 2 : 0;
  return (levels + folds) * (latency_s + vector_s);
}

}  // namespace closed_forms

// Exact where the header of the collective says so, otherwise an upper bound.
inline double idle_star_s(const std::string& name, const GroupExchange& exchange, double latency_s,
                          double bytes_per_s) {
  using namespace closed_forms;
  const int n = exchange.members, rounds = find_collective(name).rounds(exchange);
  const auto bytes = static_cast<double>(exchange.bytes);
  const double vector_s = bytes / bytes_per_s;
  if (name == "pair")
    return n > 2 ? idle_star_s("ring", exchange, latency_s, bytes_per_s) : latency_s + vector_s;
  if (name == "ring" || name == "reduce-scatter" || name == "reduce-scatter-pairwise" || name == "pairwise")
    return rounds * (latency_s + bytes / n / bytes_per_s);
  if (name == "all-gather" || name == "tree") return rounds * (latency_s + vector_s);
  if (name == "all-gather-doubling") return rounds * latency_s + (n - 1) * vector_s;
  if (name == "reduce-scatter-halving") return reduce_scatter_halving_s(n, latency_s, vector_s);
  if (name == "reduce-scatter-root") return 2 * latency_s + (n - 1) * (1 + 1. / n) * vector_s;
  if (name == "bruck") return rounds * latency_s + bruck_parts(n) * vector_s / n;
  if (name == "direct") return 2 * (latency_s + (n - 1.) / n * bytes / bytes_per_s);
  if (name == "double-tree") return double_tree_s(rounds / 3, exchange, latency_s, bytes_per_s);
  if (name == "halving-doubling" || name == "halving-doubling-far")
    return halving_doubling_s(n, latency_s, vector_s);
  if (name == "halving-doubling-halves")
    return halving_doubling_s(n, latency_s, vector_s) + ((n & (n - 1)) != 0 ? latency_s : 0);
  if (name == "recursive-doubling") return recursive_doubling_s(n, latency_s, vector_s);
  if (name == "heap-tree") return 2 * floor_log2(n) * (latency_s + (n == 2 ? 1 : 2) * vector_s);
  if (name == "hierarchical") return hierarchical_s(exchange, latency_s, vector_s);
  if (name == "leaf-tree")
    return n == 2 ? 2 * (latency_s + vector_s) : 2 * ceil_log2(n) * (latency_s + 2 * vector_s);
  if (name == "parameter-server") return 2 * (latency_s + (n - 1) * vector_s);
  if (name == "root") return 2 * exchange.tensors * latency_s + 2 * (n - 1) * vector_s;
  if (name != "send") throw std::logic_error(name + " has no closed form");
  return latency_s + (n - 1) * vector_s;
}

// Rounds that each keep every link busy for `round_s`, sliced and pipelined: a member begins a round when it
// has sent the one before, and not before a latency and a slice after it began that.
inline double pipelined_rounds_s(int rounds, double round_s, int slices, double latency_s) {
  return latency_s + round_s + (rounds - 1) * std::max(round_s, latency_s + round_s / slices);
}

// Of a program that may be cut (net/collectives/slices.h), cut into `slices` of a unit, at least 2.
inline double sliced_idle_star_s(const std::string& name, const GroupExchange& exchange, int slices,
                                 double latency_s, double bytes_per_s) {
  const int n = exchange.members, rounds = find_collective(name).rounds(exchange);
  const auto bytes = static_cast<double>(exchange.bytes);
  const double slice_s = bytes / slices / bytes_per_s;
  const auto pipelined_s = [&](double round_s) {
    return pipelined_rounds_s(rounds, round_s, slices, latency_s);
  };
  if (name == "pair" && n > 2) return sliced_idle_star_s("ring", exchange, slices, latency_s, bytes_per_s);
  if (name == "ring" || name == "reduce-scatter") return pipelined_s(bytes / n / bytes_per_s);
  if (name == "all-gather") return pipelined_s(bytes / bytes_per_s);
  if (name == "direct") return pipelined_s((n - 1.) / n * bytes / bytes_per_s);
  const int levels = name == "heap-tree" ? floor_log2(n) : ceil_log2(n);
  const auto tree_s = [&](int at_once) {
    return 2 * levels * latency_s + (2 * levels + slices - 1) * at_once * slice_s;
  };
  if (name == "tree") return tree_s(levels);
  if (name == "heap-tree") return tree_s(n < 4 ? n - 1 : 3);
  if (name == "leaf-tree" && n == 2) return 2 * latency_s + (slices + 1) * slice_s;
  if (name == "leaf-tree") return 2 * levels * latency_s + (2 * slices + 2 * levels) * 6 * slice_s;
  if (name != "parameter-server") return idle_star_s(name, exchange, latency_s, bytes_per_s);
  const double round_s = (n - 1) * bytes / bytes_per_s;
  return 2 * latency_s + round_s + round_s / slices;
}

}  // namespace longhaul
