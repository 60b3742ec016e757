// Link traces whose numbers look like those of another unit: Mb/s under rate_bps, milliseconds under delay_s,
// seconds since 1970 under time_s; and those that end in an outage. Each is a valid trace, so this warns and
// refuses nothing.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/case.h"
#include "net/topology.h"

namespace longhaul {

// One line for each column of each trace that is doubtful:
// - time_s that begins after 1e8 s (three years), or whose first row, or first change, comes after a rough
//   upper bound of the run's time: all weights sent twice at every step over the slowest link, three times
//   that;
// - rates that never reach a 500th of the link's own or 64 kb/s, or exceed 1000 times the link's own;
// - delays one way whose median is above 0.35 s (a geostationary satellite has 0.28), or above 10 ms and 500
//   times the link's own;
// - a single cell with a rate below 64 kb/s and a 500th of the column's largest, or a delay above 0.35 s and
//   500 times the column's median: the first one by its line;
// - a last row with rate 0, where the trace does not repeat.
// Reads the files. Throws InputError as Variation does.
std::vector<std::string> doubtful_traces(const Case& config, const Topology& topology);

// Of those, the lines of traces that end in an outage.
std::vector<std::string> endless_outages(const Case& config);

}  // namespace longhaul
