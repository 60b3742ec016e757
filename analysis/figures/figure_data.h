// What the figures of `longhaul plot` show: every mean, interval and verdict, as JSON for
// python/longhaul/figures.py, which chooses the figures and draws them and computes no statistic.
#pragma once

#include <string>
#include <vector>

#include "analysis/runs/run_directory.h"

namespace longhaul {

struct FigureRequest {
  std::vector<std::string> metrics;  // of the sweeps; empty: those that compare takes
  std::vector<std::string> where;    // "key=value": only these cases
};

// Times in s, sizes in bytes, losses in nats a token, intervals 95 % (Student's t over the seeds):
// {"colors": {label: "#0072B2" or "ink"}, "quantities": {"500ms": [0.5, "s"]} of the swept texts that are
// some,
//  "points": [{"at", "stages": whether a replica has some, "bits": whether a token is a byte, "groups":
//     [{"name", "label", "seeds", "curve": {"seeds", "step", "time_s", "bytes", "loss", "low", "high",
//     "least",
//       "greatest"} or null, "times": {"count", "steps": [[s, share of the synchronizations up to it]]} or
//       null, "parts": {"compute_time_s": mean over seeds, ...}}]}],
//  "sweeps": [{"metric", "unit", "entries": [{"point", "label", "seeds", "y", "low", "high"}]}],
//  "claims": [{"claim", "claims", "unit", "verdicts": [sentences], "keys": the two that decide most,
//     "points": [{"swept", "measured", "low", "high", "residual"}]}],
//  "matrices": claim_pictures() of claims.h,
//  "notes": [what is left out, and why]}
// `points` are the first six of the sweep; "time_s" and "bytes" of a curve are null where they are not known.
// A claim's `low` and `high` are its interval widened by the network model's error; `claims` are all on the
// same quantity. Throws InputError for a metric, key or value that no case has.
Json figure_data(const std::vector<RunDirectory>& runs, const FigureRequest& request);

}  // namespace longhaul
