// The map of the network of one case: who is joined to whom, what each link carried, and the bottleneck.
#pragma once

#include <string>

#include "core/options.h"

namespace longhaul {

// From network.csv and links.csv:
//   {"nodes": [names], "replicas": [node numbers that are replicas],
//    "links": [[from, to, forward, backward], ...], "left_out": count,
//    "bottleneck": {"link", "direction", "busy_s", "full", "alike"}}
//   a direction: null if it carried nothing, or [bytes on the wire, busy seconds, bit/s; null: no limit]
// The bottleneck is the direction that was busy longest; of those within 1 % of it (a transfer keeps every
// link of its path busy) the one that was fullest meanwhile. `full`: the share of its rate that it carried
// while it was busy, null without a rate: far below 1, a connection's own throughput or the latency was the
// limit, and no link. `alike` counts the others within 1 %. Null where nothing was carried. At most `most`
// links, the busiest; trunks (between two nodes that are no replicas) go before access links. Null without
// the two files.
Json network_map(const std::string& case_folder, std::size_t most);

// The links of one case that carried most.

// {"total_bytes", "used", "busiest": [{"link", "direction", "bytes", "busy_s"}]}: at most `count` directions
// of links by bytes on the wire, most first; `used` counts the directions that carried anything. Null without
// links.csv.
Json busiest_links(const std::string& case_folder, std::size_t count);

}  // namespace longhaul
