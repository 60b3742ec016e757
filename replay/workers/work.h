// Compute of a worker: whole steps, and its time.
#pragma once

#include <cstdint>

namespace longhaul {

struct Work {
  std::int64_t steps = 0;
  double seconds = 0;
};

}  // namespace longhaul
