// The learning curve of one case, thinned to what a picture can show.
#pragma once

#include <string>

#include "core/options.h"

namespace longhaul {

// {"step", "time_s", "bytes", "loss", "of_mean", "spread"}: arrays of one length, from the rows `mean` of the
// case's metrics.csv or, while it is not replayed, of its training's (then without times and bytes); null
// where there is neither. At most `points` entries: steps are left out evenly, never one of the two rows
// (before and after an outer step) of a step that is kept, and never the last step. Throws RunError for a
// damaged file.
Json curve_of(const std::string& case_folder, const std::string& train_folder, std::size_t points);

}  // namespace longhaul
