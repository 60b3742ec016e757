// Ranks over MPI: each process that mpirun or srun has started is one.
#pragma once

#include <functional>
#include <memory>
#include <string>

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

// What is said of a rank that is silent: a line for people, and the end of this process, which does not
// return. Both may come from a thread that watches over calls of MPI.
struct RankWords {
  std::function<void(const std::string& text)> note;
  std::function<void(const std::string& reason, int exit_status)> end;
};

// Initializes MPI; sends and receives are for the thread that calls this. A rank that dies ends all: the
// launcher sees to it and names it. `patience_s`: how long a rank, or MPI itself, may keep another one
// waiting; 0 < patience_s. After some seconds that is said; once a signal to stop has come, half a minute is
// the most. Ranks that are all on one machine have its shared memory, and no port. Throws RunError where MPI
// does not find what the launcher says, and InputError in a build without MPI.
std::unique_ptr<LaunchedRanks> make_mpi_ranks(const LaunchedRank& launched, int patience_s, RankWords words);

}  // namespace longhaul
