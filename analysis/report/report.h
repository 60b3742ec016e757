// The report: one self-contained HTML file, which opens offline, and the data that its scripts read.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/runs/run_directory.h"
#include "core/base/options.h"

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

// The page for what report_data gives.
std::string report_page(const Json& data);

// The files of analysis/report/ and Chart.js, by name; defined by longhaul_embed.
const std::map<std::string, std::string_view>& report_files();

// How a page becomes one HTML file: the template `name` of `parts`, whose names in double braces are filled
// in with these parts, the title, the data and the colours of `methods` (palette.h). One pass: what is filled
// in is never searched for names. Throws std::out_of_range for a name that is not among the parts.
std::string filled_page(const std::string& name, std::map<std::string, std::string_view> parts,
                        const std::string& title, const Json& data, const std::vector<std::string>& methods);

// Of HTML and XML.
std::string html_safe(const std::string& text);

}  // namespace longhaul
