#include "replay/network/known_parts.h"

#include <algorithm>

namespace longhaul {

SyncParts known_parts(const Topology& topology, const ConnectionFacts& facts, const TcpSpec& tcp,
                      std::int64_t bytes, double took_s) {
  SyncParts parts;
  parts.latency_s = std::min(took_s, tail_s(topology, facts, tcp.segment, bytes));
  parts.bytes_s = std::min(took_s - parts.latency_s,
                           static_cast<double>(bytes) / alone_rate(facts, tcp.segment, tcp.connections));
  parts.congestion_s = took_s - parts.latency_s - parts.bytes_s;
  return parts;
}

}  // namespace longhaul
