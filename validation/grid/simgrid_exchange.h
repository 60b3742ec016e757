// A case of the validation grid on SimGrid with its default model as it comes (LV08: latency factor 13.01,
// bandwidth factor 0.97, a window of 4 MiB, cross-traffic): what one gets there without calibration.
#pragma once

#include "validation/grid/grid_case.h"

namespace longhaul {

// Seconds of one exchange; SimGrid knows no connections, so that the first is like any other. Links have
// their rate on the wire, headers are in its bandwidth factor. In a process of its own: SimGrid's engine is
// one global object. Negative if that failed.
double simgrid_default_s(const GridCase& grid_case);

}  // namespace longhaul
