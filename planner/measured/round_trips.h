// Round trips from one machine to several hosts, as ping, fping, mtr and irtt measure them: which pairs they
// are of.
#pragma once

#include <string>
#include <vector>

#include "planner/measured/measurement.h"

namespace longhaul::measured {

struct RoundTrip {
  std::vector<std::string> hosts;  // the target's names and addresses; none where the text does not say it
  double seconds = 0;
  std::string source = {};  // the host or address that sent, or ""
};

// One for each pair, the shortest; targets that are no site's are left out where another one is. `found` is
// not empty. Throws InputError.
std::vector<Measured> measured_between(const std::string& file, const std::vector<RoundTrip>& found,
                                       const Sites& sites);

}  // namespace longhaul::measured
