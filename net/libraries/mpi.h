// What the two MPI libraries have in common: an algorithm by members and bytes, from a table.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "net/library.h"

namespace longhaul {

inline constexpr std::int64_t kAnySize = std::numeric_limits<std::int64_t>::max();

// Taken where there are fewer members and fewer bytes than this.
struct AlgorithmRule {
  std::int64_t members_below, bytes_below;
  const char* collective;
};

// The first rule that holds; the last one of a table holds always.
inline const char* algorithm(const std::vector<AlgorithmRule>& rules, int members, std::int64_t bytes) {
  for (const AlgorithmRule& rule : rules)
    if (members < rule.members_below && bytes < rule.bytes_below) return rule.collective;
  return rules.back().collective;
}

inline bool is_power_of_two(int members) {
  return (members & (members - 1)) == 0;
}

}  // namespace longhaul
