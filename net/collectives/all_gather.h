// Ring all-gather: everyone ends up with the contributions of all, side by side. What methods with sparse or
// compressed messages exchange (contributions of different members cannot be added up on the way), and how
// ZeRO-3 collects its parameters.
//
// The result has n · B bytes, member j's contribution at jB … (j+1)B. In round k of n − 1 member m passes
// contribution m − k on to its successor. Each member sends (n−1) · B. Idle star, exact: (n−1) · (latency +
// B / rate). In S slices, exact: latency + B / rate + (n−2) · max(B / rate, latency + (B/S) / rate).
#pragma once

#include "net/collectives/collective.h"

namespace longhaul {

std::unique_ptr<Collective> make_all_gather();

}  // namespace longhaul
