// All-reduce at a parameter server: everyone sends its whole vector to member 0, which answers with the
// result.
//
// A member other than 0 sends B, member 0 sends (n−1) · B over its one link.
// Idle star, exact: 2 · (latency + (n−1) · B / rate); in S slices 2 · latency + (1 + 1/S) · (n−1) · B / rate.
#pragma once

#include "net/collectives/collective.h"

namespace longhaul {

std::unique_ptr<Collective> make_parameter_server();

}  // namespace longhaul
