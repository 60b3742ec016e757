// The data that the scripts of the report read.
#pragma once

#include "analysis/runs/run_directory.h"
#include "core/base/json.h"

namespace longhaul {

// Everything the page shows:
//   columns   [{"title", "meaning", "path", "unit" ("s", "B", "nats", "%" of a fraction, or "")}]
//   swept     [keys]
//   levels    [the cumulative shares at which the quantiles in `sync` stand]
//   t95       [Student's t at 97.5 % for 2, 3, … seeds]
//   runs      [{"folder", "name", "description", "words", "notes", "conclusions" (conclusions_json),
//               "claims", "claim_pictures", "manifest", "corpora" (hashes), "byte_tokens" (whether a token is
//               a byte), "scenario"}]
//   cases     [{"run", "case", "status", "error", "method", "label", "variant", "point", "seed", "swept",
//               "numbers" (for bars), "texts", "values", "best", "curve", "outer_step", "links", "map",
//               "network" (number in networks, or null), "breakdown" (parts of a synchronization, s), "sync"
//               (quantiles, s), "replicas" (times of each), "target" ({"loss", "time_s"}, where there is
//               one)}]
//   points    [{"run", "label", "cases": [indices], "rows" (seed_means), "equal" (equal_losses),
//               "loss_note" (sampling_note)}]
//   networks  [the sites of cases (sites_of_case), each once]
//   problems  [what could not be read]
// texts, values and best go with columns. Curves, lanes, replicas and links are thinned, the more so the more
// cases there are. What cannot be read (a damaged or cut table) is named in `problems` beside what
// open_runs() could not open, and the rest is there.
Json report_data(const RunDirectories& opened);

}  // namespace longhaul
