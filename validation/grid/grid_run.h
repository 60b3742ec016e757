// One case of the validation grid, run by a fidelity.
#pragma once

#include <string>

#include "validation/grid/grid_case.h"

namespace longhaul {

// From the moment when all begin until the last one is done; where several pairs share a trunk also until the
// first one is.
struct ExchangeTime {
  double last_s = 0, first_s = 0;
};

struct GridTimes {
  ExchangeTime cold, again;
};

// `seed` is that of random loss. Throws RunError for a stalled connection, InputError for what the fidelity
// does not do.
GridTimes run_grid_case(const GridCase& grid_case, const std::string& fidelity, std::uint64_t seed);

// The same in a process of its own, where a crash of the simulator is this case's alone. `status` is "done",
// "stalled", "unfinished" (more than `most_cpu_s` seconds of processor time), "crashed" or "refused"; the
// times hold only if it is "done".
struct GridOutcome {
  std::string status;
  GridTimes times;
};

GridOutcome run_in_child(const GridCase& grid_case, const std::string& fidelity, std::uint64_t seed,
                         unsigned most_cpu_s);

}  // namespace longhaul
