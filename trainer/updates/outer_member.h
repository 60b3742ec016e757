// One replica in an outer step, as the row algebra sees it.
#pragma once

#include "trainer/replicas/message.h"

namespace longhaul {

struct OuterMember {
  // Null where the replica lives in another process; then only its messages are here.
  float* theta;     // fast weights θ_i [P]
  float* phi;       // slow weights φ_i [P]: the anchor of the last outer step
  float* momentum;  // δ_i or v [P]
  Message delta;    // Δ_i = θ_i − φ_i, as the group sees it
  Message anchor;   // φ_i, as the group sees it; not used by DiLoCo, whose φ are all equal

  bool is_held() const { return theta != nullptr; }
};

}  // namespace longhaul
