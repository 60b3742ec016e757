#include <cstdlib>
#include <string>

#include "core/base/errors.h"
#include "core/base/units.h"
#include "trainer/ranks/mpi_ranks.h"

namespace longhaul {
namespace {

// −1: not set, or no number.
int number_in(const char* name) {
  const char* value = std::getenv(name);
  return parse_number<int>(value ? value : "").value_or(-1);
}

}  // namespace

LaunchedRank launched_rank() {
  constexpr const char* kNames[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                       {"PMI_RANK", "PMI_SIZE"},
                                       {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}};
  for (const auto& [rank, size] : kNames)
    if (number_in(rank) >= 0 && number_in(size) > number_in(rank)) return {number_in(rank), number_in(size)};
  return {};
}

void check_ranks_divide(int ranks, int replicas) {
  if (replicas % ranks == 0) return;
  std::string divisors;
  for (int size = 1; size <= replicas; ++size)
    if (replicas % size == 0) divisors += (divisors.empty() ? "" : ", ") + std::to_string(size);
  throw InputError("mpirun -n",
                   "found " + std::to_string(ranks) + " ranks, but the case has " + std::to_string(replicas) +
                       (replicas == 1 ? " replica" : " replicas"),
                   "a divisor of the replicas: " + divisors, "each rank holds equally many replicas");
}

}  // namespace longhaul
