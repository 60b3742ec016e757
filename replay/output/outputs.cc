#include "replay/output/outputs.h"

#include <algorithm>

namespace longhaul {

double ReplayEnd::simulated_s() const {
  double latest_s = 0;
  for (const ReplicaTotals& replica : totals) latest_s = std::max(latest_s, replica.clock_s);
  return latest_s;
}

}  // namespace longhaul
