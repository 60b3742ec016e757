// How long an observed exchange takes in the network of a case, by a replay of it alone.
#pragma once

#include "core/base/child_main.h"
#include "core/scenario/case.h"
#include "fitting/observations.h"

namespace longhaul {

// Throws InputError where the case cannot be asked: stages, faults of replicas, another number of replicas,
// fidelity packet.
void check_replayable(const Case& config, const ObservedExchange& exchange);

// Seconds from when the last member began until the last one was done. Members begin as they were observed
// to; before it the same exchange has been, `gap_s` earlier, so that the connections are as they were. Of the
// case count its network, its seed, and how its method has all-reduces lowered. Throws RunError, Interrupted.
double exchange_time_s(Case config, const ObservedExchange& exchange);

}  // namespace longhaul
