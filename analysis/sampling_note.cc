#include "analysis/sampling_note.h"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace longhaul {

std::string sampling_note(const std::vector<Json>& records) {
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max(), most = 0;
  for (const Json& record : records) {
    if (!record.contains("final_loss_sampling_error")) continue;
    const double error = record["final_loss_sampling_error"];
    lowest = std::min(lowest, error);
    highest = std::max(highest, error);
    const std::int64_t windows = record["evaluated_sequences"];
    fewest = std::min(fewest, windows);
    most = std::max(most, windows);
  }
  if (most == 0) return "";
  char range[64];
  std::snprintf(range, sizeof range, "%.3f", lowest);
  std::string error = range;
  std::snprintf(range, sizeof range, "%.3f", highest);
  if (error != range) error += " to " + std::string(range);
  const std::string windows =
      std::to_string(fewest) + (most > fewest ? " to " + std::to_string(most) : "") + " windows";
  return "losses: over " + windows + " of the held-out text, the same for every method and seed; the " +
         "standard error of that sample is " + error + " nats, and most of it cancels in differences";
}

}  // namespace longhaul
