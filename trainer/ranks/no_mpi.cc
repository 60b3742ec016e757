// In the place of mpi_ranks.cc where no MPI was found.
#include "core/base/errors.h"
#include "trainer/ranks/mpi_ranks.h"

namespace longhaul {

std::unique_ptr<LaunchedRanks> make_mpi_ranks(const LaunchedRank& launched, int, RankWords) {
  throw InputError(
      "mpirun -n",
      "found " + std::to_string(launched.size) + " ranks, but longhaul-train was built without MPI",
      "one process", "install libopenmpi-dev and openmpi-bin, then configure and build again");
}

}  // namespace longhaul
