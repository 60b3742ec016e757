// Groups one after the other, as GroupTable (outer_rows.h) reads them.
#pragma once

#include <vector>

namespace longhaul {

struct FlatGroups {
  std::vector<int> members, begins;  // a begin for each group, and the end of the last one

  explicit FlatGroups(const std::vector<std::vector<int>>& groups) : begins{0} {
    for (const std::vector<int>& group : groups) {
      members.insert(members.end(), group.begin(), group.end());
      begins.push_back(static_cast<int>(members.size()));
    }
  }
};

}  // namespace longhaul
