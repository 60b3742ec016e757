// How wrong a simulated time may be: the measured residual of a fidelity against packets.
#pragma once

#include <string>

#include "core/options.h"

namespace longhaul {

// Of a case record. A bound on the 95th percentile of |fidelity / packets − 1| of the sync time over the grid
// of docs/model.md: for `flow` 5 %, where the largest 95th percentile of any collective, cold or after
// idling, is 4.7 %; 0 for packets themselves, and where messages draw their times (network.message_time) or
// `analytic` is asked for: those are assumptions, and what follows from an assumption is exact. A fraction.
double network_residual(const Json& record);

// Whether a number of a case record is a simulated time, which that residual touches.
bool depends_on_network_time(const std::string& metric);

}  // namespace longhaul
