// The parts of a message's time that are known without a model of TCP: its bytes at the rate of the path
// alone, and latency. The rest has causes that packets do not tell apart, and is `rest` (congestion_s).
#pragma once

#include "net/tcp/connection.h"
#include "replay/network/sync_parts.h"

namespace longhaul {

SyncParts known_parts(const Topology& topology, const ConnectionFacts& facts, const TcpSpec& tcp,
                      std::int64_t bytes, double took_s);

}  // namespace longhaul
