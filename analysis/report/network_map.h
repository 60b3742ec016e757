// The network of one case for the report: a map of who is joined to whom, what each link carried, and sites.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/json.h"

namespace longhaul {

// From network.csv and links.csv:
//   {"nodes": [names], "replicas": [node numbers that are replicas],
//    "links": [[from, to, forward, backward], ...], "left_out": count}
//   a direction: null if it carried nothing, or [bytes on the wire, busy seconds, bit/s; null: no limit]
// At most `most` links, the busiest; trunks (between two nodes that are no replicas) go before access links.
// Null without the two files.
Json network_map(const std::string& case_folder, std::size_t most);

// What links carried, one direction a row, busiest first:
//   {"total_bytes", "used": how many carried anything, "alike",
//    "rows": [[link, direction, bytes on the wire, busy seconds, bit/s or null], ...]}
// At most `count` rows. The first is the bottleneck: the direction that was busy longest; of those within 1 %
// of it (a transfer keeps every link of its path busy) the one that was fullest meanwhile. `alike` counts the
// others, null where nothing was busy. Where the bottleneck is a trunk all trunks follow it before access
// links. Null without links.csv.
Json link_table(const std::string& case_folder, std::size_t count);

// The sites of one case, and at which of them each replica stands, from network.csv:
//   {"sites": [names], "site_of": [number of the site by replica; −1: at none]}
// Null where replicas stand at less than two routers, or each at one of its own.
Json sites_of_case(const std::string& case_folder);

}  // namespace longhaul
