// What a replay will carry and about how long it takes, before it starts; and whether the network of a case
// can be built at all. Needs no ns-3.
#pragma once

#include <cstdint>

#include "core/case.h"
#include "core/trace.h"

namespace longhaul {

struct ReplayEstimate {
  std::int64_t transfers = 0;
  std::int64_t payload_bytes = 0;
  double seconds =
      0;  // of wall time on one core for the case's fidelity; right within a factor of about three
};

// Throws InputError for a collective that does not exist, and for slices of which there would be too many.
ReplayEstimate estimate(const Case& one, const Trace& trace);

// Builds the topology. Throws InputError (without a file) for whatever cannot be.
void check_network(const Case& one);

// Throws InputError where a collective of the plan needs sites and the topology has none.
void check_collectives(const Case& one, const ExchangePlan& plan);

}  // namespace longhaul
