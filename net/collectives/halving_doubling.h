// Recursive halving (reduce-scatter), then recursive doubling (all-gather); Rabenseifner's all-reduce.
//
// Let p = 2^floor(log2 n). The n − p surplus members send their vector to member m − p first and get the
// result from it at the end. Among the p, in round j of log2 p member m exchanges with m xor (p / 2^(j+1))
// the half of its part that the other keeps, and the same way back. A core member sends 2(p−1)/p · B, and B
// more if it serves a surplus one, which itself sends B. Idle star, exact: 2 · log2(p) · latency + 2(p−1)/p ·
// B/rate, and 2 · (latency + B/rate) more if n is not p. Rounds are blocking send-receives, as in MPI:
// otherwise members without a surplus one would send halves to a member that is still receiving a whole
// vector, and both would take longer (up to 1.9 times the closed form for n = 3 … 33).
#pragma once

#include "net/collectives/collective.h"

namespace longhaul {

std::unique_ptr<Collective> make_halving_doubling();

}  // namespace longhaul
