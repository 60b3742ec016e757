// How wrong a fidelity is where links change with time: rates, delays, the traffic of others, outages.
//
// Measured by validation/grid/changes.py against `linux` (results/reference/residuals/changes.md): of the
// worst of each kind the 95th percentile over its exchanges, rounded up. `linux` is held against Linux's own
// TCP (tests/unit/net/linux_kernel_rings_test.cc): changes add nothing to its error, outages 18 %. Of several
// kinds at once nothing was measured: they count as independent, the root of the sum of their squares.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/case.h"

namespace longhaul {

struct ChangingLinks {
  double residual = 0;                      // beside that of links that stay as they are
  std::vector<std::string> kinds, outside;  // in words; what no measurement had
};

// Throws InputError for a trace that cannot be read.
ChangingLinks changing_links(const NetworkSpec& network);

// Of errors that have nothing to do with each other; 1 where one is not known.
double together(double residual, double other);

}  // namespace longhaul
