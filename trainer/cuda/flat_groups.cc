#include "trainer/cuda/device_exchange.h"

namespace longhaul {

FlatGroups flat_groups(const std::vector<std::vector<int>>& groups) {
  FlatGroups flat;
  flat.begins.push_back(0);
  for (const std::vector<int>& group : groups) {
    flat.members.insert(flat.members.end(), group.begin(), group.end());
    flat.begins.push_back(static_cast<int>(flat.members.size()));
  }
  return flat;
}

Rounding rounding_of(Wire wire) {
  return wire == Wire::kBf16 ? Rounding::kBf16 : wire == Wire::kFp16 ? Rounding::kFp16 : Rounding::kNone;
}

}  // namespace longhaul
