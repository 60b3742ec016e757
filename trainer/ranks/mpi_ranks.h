// Ranks over MPI: each process that mpirun or srun has started is one.
#pragma once

#include <memory>

#include "trainer/ranks/ranks.h"

namespace longhaul {

struct LaunchedRank {
  int rank = 0, size = 1;
};

// What the launcher says before MPI is initialized: OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE (mpirun),
// PMI_RANK and PMI_SIZE (srun --mpi=pmi2), or PMIX_RANK and SLURM_STEP_NUM_TASKS (srun --mpi=pmix). Without a
// launcher: 0 of 1.
LaunchedRank launched_rank();

// Throws InputError where the ranks cannot hold equally many of the replicas.
void check_ranks_divide(int ranks, int replicas);

// On this machine: which of how many ranks this is. They share its processors and take its GPUs in turn.
struct RankHere {
  int number = 0, size = 1;
};

class LaunchedRanks : public Ranks {
 public:
  virtual RankHere here() const = 0;
  // The end of MPI, after all others have come here too.
  virtual void finish() = 0;
  // Ends all ranks at once.
  virtual void abort(int exit_status) = 0;
};

// Initializes MPI; sends and receives are for the thread that calls this. A rank that dies ends all: the
// launcher sees to it and names it. `patience_s`: how long a rank may keep another one waiting; 0 <
// patience_s. Throws RunError where MPI does not find what the launcher says, and InputError in a build
// without MPI.
std::unique_ptr<LaunchedRanks> make_mpi_ranks(const LaunchedRank& launched, int patience_s);

}  // namespace longhaul
