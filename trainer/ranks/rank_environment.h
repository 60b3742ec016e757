// Which of how many processes this is, from the environment that torchrun and wrappers for Slurm and mpirun
// set: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT.
#pragma once

#include <string>

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
  std::string interface;  // GLOO_SOCKET_IFNAME: the network interface that this rank is reached by
};

// One process where WORLD_SIZE is not set. Throws InputError that names the variable.
RankEnvironment rank_environment();

// Throws InputError where the ranks cannot hold equally many of the replicas.
void check_ranks_divide(const RankEnvironment& environment, int replicas);

}  // namespace longhaul
