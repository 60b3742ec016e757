// Everything the page shows, as the JSON that report.js reads.
#pragma once

#include <string>
#include <vector>

#include "core/options.h"

namespace longhaul {

//   columns   [{"title", "meaning", "path"}]
//   swept     [keys]
//   runs      [{"folder", "name", "description", "words", "notes", "claims", "manifest", "scenario"}]
//   cases     [{"run", "case", "status", "error", "method", "label", "variant", "point", "seed", "swept",
//               "exchanges", "numbers" (for bars), "texts", "values", "best", "curve", "outer_step",
//               "links"}]
//   points    [{"run", "label", "cases": [indices], "findings": [sentences]}]
//   problems  [what could not be read]
// texts, values and best go with columns. Curves, lanes and links are thinned, the more so the more cases
// there are. A folder that is no run is named in `problems` if there are others; throws RunError where there
// are none.
Json report_data(const std::vector<std::string>& run_folders);

}  // namespace longhaul
