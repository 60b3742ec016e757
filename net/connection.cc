#include "net/connection.h"

#include <algorithm>
#include <cmath>

#include "net/framing.h"

namespace longhaul {
namespace {

// On very short paths two bandwidth-delay products would be less than a socket buffer ever is.
constexpr double kSmallestBuffer = 131072;

double serialization_s(const Topology& topology, const std::vector<LinkDirection>& path, double wire_bytes) {
  double total = 0;
  for (const LinkDirection direction : path) total += 8 * wire_bytes / topology.rate(direction);
  return total;
}

double window_limit(const Topology& topology, const TcpSpec& tcp, const ConnectionFacts& facts, int source,
                    int target) {
  const double product = facts.bottleneck / 8 * payload_share(tcp.segment) * facts.rtt_s;
  double limit = std::max(2 * product / tcp.connections, kSmallestBuffer);
  if (tcp.window) limit = *tcp.window;
  return std::min(limit, topology.connection_cap(source, target) / 8 * facts.rtt_s);
}

}  // namespace

ConnectionFacts connection_facts(const Topology& topology, const TcpSpec& tcp, int source, int target) {
  ConnectionFacts facts;
  Path path = topology.path(source, target);
  facts.data = std::move(path.directions);
  facts.delay_s = path.delay_s;
  // The same links the other way round: equal costs must not send acknowledgements along another trunk.
  for (auto direction = facts.data.rbegin(); direction != facts.data.rend(); ++direction)
    facts.acks.push_back(*direction ^ 1);
  facts.rtt_s = 2 * facts.delay_s + serialization_s(topology, facts.data, tcp.segment + kHeaderBytes) +
                serialization_s(topology, facts.acks, kHeaderBytes);
  facts.bottleneck = topology.bottleneck(source, target);
  facts.ack_limit = kUnlimited;
  for (const LinkDirection direction : facts.acks)
    facts.ack_limit = std::min(facts.ack_limit, topology.rate(direction) / ack_share(tcp.segment));
  facts.window_limit = window_limit(topology, tcp, facts, source, target);
  return facts;
}

double tail_s(const Topology& topology, const ConnectionFacts& facts, int segment, std::int64_t bytes) {
  const double last = static_cast<double>((bytes - 1) % segment + 1) + kHeaderBytes;
  return facts.delay_s + serialization_s(topology, facts.data, last) - 8 * last / facts.bottleneck;
}

double window_kept_after_idle(double idle_s, double rtt_s) {
  const double timeouts = idle_s / retransmission_timeout_s(rtt_s);
  return timeouts <= 1 ? 1 : std::exp2(0.5 - timeouts);
}

}  // namespace longhaul
