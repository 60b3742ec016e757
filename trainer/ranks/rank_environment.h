// Which of how many processes this is, from the environment that torchrun and wrappers for Slurm and mpirun
// set: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT.
#pragma once

#include <memory>
#include <string>

#include "trainer/ranks/ranks.h"

namespace longhaul {

struct RankEnvironment {
  int rank = 0, size = 1;
  int size_here = 1;    // LOCAL_WORLD_SIZE: ranks on this machine, which share its processors
  int number_here = 0;  // LOCAL_RANK: which of them this is, and which GPU it takes
  std::string address;  // of rank 0's machine
  int port = 0;
  // torchrun's own process already listens on the port, for all attempts to start (TORCHELASTIC_*).
  bool is_agents_store = false;
  std::string attempt;
};

// One process where WORLD_SIZE is not set. Throws InputError that names the variable.
RankEnvironment rank_environment();

// Throws InputError where the ranks cannot hold equally many of the replicas.
void check_ranks_divide(const RankEnvironment& environment, int replicas);

// Ranks over LibTorch's c10d: Gloo, through host memory, where the rows are.

// Waits until all ranks are there. `patience_s`: how long a rank may keep the others waiting, there and
// later. GLOO_SOCKET_IFNAME names the network interface (default: the one of this machine's name, or loopback
// where MASTER_ADDR is that). Throws RunError that names the ranks which did not come, Interrupted, and
// InputError where this build has no Gloo.
std::unique_ptr<Ranks> make_c10d_ranks(const RankEnvironment& environment, int patience_s);

}  // namespace longhaul
