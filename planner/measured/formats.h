// Which tool a text is of, and what to give where it is one that is not read.
#pragma once

#include <vector>

#include "planner/measured/measurement.h"

namespace longhaul::measured {

// All that a file says of `sites`. Throws InputError, which names it, whatever its bytes are.
std::vector<Measured> read(const MeasurementFile& file, const Sites& sites);

}  // namespace longhaul::measured
