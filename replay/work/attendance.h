// Who takes part in the operations of a step, where replicas may be gone when they are made.
#pragma once

#include <vector>

namespace longhaul {

struct Attendance {
  enum class Role : char {
    kAbsent,
    kMember,
    kListener,  // of operations among everyone: it gets their results and contributes nothing
  };

  std::vector<Role> roles;  // by replica
  std::vector<int> lost;    // members that are gone, as all know already: the operations lose them at once
  bool discards = false;    // operations that lack a member fail
};

}  // namespace longhaul
