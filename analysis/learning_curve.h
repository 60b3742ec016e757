// A case's learning curve against simulated time: the training's metrics joined with the replay's clocks.
#pragma once

#include <string>

#include "core/base/options.h"
#include "core/scenario/case.h"

namespace longhaul {

// Writes CASE_FOLDER/metrics.csv from TRAIN_FOLDER/metrics.csv and the steps.csv and exchanges.csv of the
// case (docs/formats.md). simulated_s of a replica at step s is its clock after the inner step for `before`,
// and when it went on for `after` and `plain`; bytes_sent is the payload it had sent by then: what is posted
// at step s itself counts from `after` on. Each file is read once; memory grows with the evaluations, not
// with the steps. Throws RunError if a file is missing or an evaluation's step was not replayed.
void write_case_metrics(const Case& config, const std::string& case_folder, const std::string& train_folder);

// The curve thinned to what a picture can show:
// {"step", "time_s", "bytes", "loss", "of_mean", "spread"}: arrays of one length, from the rows `mean` of the
// case's metrics.csv or, while it is not replayed, of its training's (then without times and bytes); null
// where there is neither. At most `points` entries: steps are left out evenly, never one of the two rows
// (before and after an outer step) of a step that is kept, and never the last step. Throws RunError for a
// damaged file.
Json curve_of(const std::string& case_folder, const std::string& train_folder, std::size_t points);

}  // namespace longhaul
