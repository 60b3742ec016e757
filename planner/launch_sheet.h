// How to start the choice: a script for each node that sets what the times rest on, and tells the training
// its method.
//
// It makes no node slower: a limit that is higher there stays, as do windows that stay open (a node that was
// tuned has both), and each change is printed with what was there. Congestion control is what the plan says
// where the plan says bbr.
//
// NCCL opens NCCL_SOCKET_NTHREADS times NCCL_NSOCKS_PERTHREAD connections to a neighbour (16 and 64 together
// at most) and takes the ring or the tree that NCCL_ALGO names. Linux uses half of a socket's buffer as its
// window.
#pragma once

#include <string>

#include "planner/evaluation.h"
#include "planner/plan_request.h"

namespace longhaul {

// A script that starts the choice on a node: its rank, the environment of NCCL and Gloo, and the sysctls that
// the times rest on.
std::string launch_script(const PlanRequest& plan, const Evaluation& choice);

}  // namespace longhaul
