// sites.json of a case: where its sites stand and what lies between them, for the map and the heat maps of
// the report (docs/formats.md).
#pragma once

#include <string>

#include "core/base/options.h"
#include "core/scenario/case.h"

namespace longhaul {

// The most sites of which every pair is written.
constexpr std::size_t kMostSitesInPairs = 48;

// Writes FOLDER/sites.json, from the case alone:
//   {"coordinates": what they are of,
//    "places": {node: [latitude, longitude]},         of sites and of routers between them
//    "sites": [names], "rtt_s": [[...]], "throughput_bps": [[...]]}
// in the order of the replicas; null in a matrix where nothing is known or nothing limits. The last two are
// missing with more than kMostSitesInPairs sites, the first two without coordinates. No file without sites.
void write_sites(const Case& config, const std::string& folder);

// The same back. Null without the file; throws DamagedFile where it is not of this form.
Json read_sites(const std::string& folder);

}  // namespace longhaul
