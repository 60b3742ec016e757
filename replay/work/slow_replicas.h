// How long the compute of a replica takes that is slow for a while (faults with `compute`).
#pragma once

#include <cstdint>
#include <vector>

#include "core/scenario/case.h"

namespace longhaul {

class SlowReplicas {
 public:
  SlowReplicas(const std::vector<Fault>& faults, std::uint64_t seed, int workers);

  // How long compute takes that would take `seconds` and begins `begin_s` after training did: where several
  // faults are on, their factors multiply.
  double stretched_s(int worker, double begin_s, double seconds) const;

 private:
  struct Slow {
    FaultWindows windows;
    double factor = 1;
  };

  std::vector<std::vector<Slow>> faults_;  // by worker; empty: none of all
};

}  // namespace longhaul
