#include "replay/network/sync_parts.h"

#include <algorithm>

namespace longhaul {

SyncParts last_seconds(const SyncParts& message, double kept_s) {
  SyncParts kept;
  const double latency_s = std::min(message.latency_s, kept_s);
  const double before_s = message.total_s() - message.latency_s;
  if (before_s > 0)
    for (const auto part : kSyncParts) kept.*part = (kept_s - latency_s) / before_s * (message.*part);
  kept.latency_s = latency_s;
  return kept;
}

SyncParts known_parts(const Topology& topology, const ConnectionFacts& facts, const TcpSpec& tcp,
                      std::int64_t bytes, double took_s) {
  SyncParts parts;
  parts.latency_s = std::min(took_s, tail_s(topology, facts, tcp.segment, bytes));
  parts.bytes_s = std::min(took_s - parts.latency_s,
                           static_cast<double>(bytes) / alone_rate(facts, tcp.segment, tcp.connections));
  parts.congestion_s = took_s - parts.latency_s - parts.bytes_s;
  return parts;
}

std::vector<NamedPart> named_parts(const NetworkSpec& network) {
  if (network.fidelity == "packet" || network.fidelity == "linux")
    return {{"bytes", &SyncParts::bytes_s},
            {"latency", &SyncParts::latency_s},
            {"rest", &SyncParts::congestion_s},
            {"waiting", &SyncParts::waiting_s}};
  return {{network.message_time ? "message" : "bytes", &SyncParts::bytes_s},
          {"latency", &SyncParts::latency_s},
          {"startup", &SyncParts::startup_s},
          {"sharing", &SyncParts::sharing_s},
          {"congestion", &SyncParts::congestion_s},
          {"waiting", &SyncParts::waiting_s}};
}

}  // namespace longhaul
