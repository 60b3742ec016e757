#include "net/tcp/connection.h"

#include <algorithm>
#include <cmath>

#include "core/base/index.h"
#include "net/tcp/framing.h"

namespace longhaul {
namespace {

// On very short paths two bandwidth-delay products would be less than a socket buffer ever is.
constexpr double kSmallestBuffer = 131072;

// bit/s of a direction: the link's own, or what it has at a moment.
double rate_of(const Topology& topology, LinkDirection direction) {
  return topology.rate(direction);
}
double rate_of(const std::vector<double>& rates, LinkDirection direction) {
  return rates[as_index(direction)];
}

template <typename Rates>
double serialization_s(const Rates& rates, const std::vector<LinkDirection>& path, double wire_bytes) {
  double total = 0;
  for (const LinkDirection direction : path) total += 8 * wire_bytes / rate_of(rates, direction);
  return total;
}

template <typename Rates>
double slowest(const Rates& rates, const std::vector<LinkDirection>& path) {
  double slowest = kUnlimited;
  for (const LinkDirection direction : path) slowest = std::min(slowest, rate_of(rates, direction));
  return slowest;
}

double total_s(const std::vector<double>& delays_s, const std::vector<LinkDirection>& path) {
  double total = 0;
  for (const LinkDirection direction : path) total += delays_s[as_index(direction)];
  return total;
}

// `own_rtt_s` is that of the links' own delays: at it a matrix says what one connection carries.
double window_limit(const Topology& topology, const TcpSpec& tcp, const ConnectionFacts& facts, int source,
                    int target, double own_rtt_s) {
  const double product = payload_rate(facts.bottleneck, tcp.segment) * facts.rtt_s;
  double limit = std::max(2 * product / tcp.connections, kSmallestBuffer);
  if (tcp.window) limit = *tcp.window;
  return std::min(limit, topology.connection_cap(source, target) / 8 * own_rtt_s);
}

// Routers forward whole segments. Before the slowest link its first segment is late, behind it a short last
// one waits for the full one before it. A last segment has whole headers, where a fluid has its share.
template <typename Rates>
double tail_without_delay_s(const Rates& rates, const std::vector<LinkDirection>& path, double bottleneck,
                            int segment, std::int64_t bytes) {
  const auto payload = static_cast<double>((bytes - 1) % segment + 1);
  const double last = 8 * (payload + kHeaderBytes), full = 8. * (segment + kHeaderBytes),
               first = bytes > segment ? full : last;
  double total = 8 * kHeaderBytes * (1 - payload / segment) / bottleneck;
  std::size_t link = 0;
  for (; rate_of(rates, path[link]) > bottleneck; ++link) total += first / rate_of(rates, path[link]);
  double last_done = 0, one_before_done = bytes > segment ? -last / bottleneck : -kUnlimited;
  for (++link; link < path.size(); ++link) {
    one_before_done += full / rate_of(rates, path[link]);
    last_done = std::max(last_done, one_before_done) + last / rate_of(rates, path[link]);
  }
  return total + last_done;
}

}  // namespace

ConnectionFacts connection_facts(const Topology& topology, const TcpSpec& tcp, int source, int target) {
  ConnectionFacts facts;
  Path path = topology.path(source, target);
  facts.data = std::move(path.directions);
  facts.acks.reserve(facts.data.size());
  facts.delay_s = path.delay_s;
  // The same links the other way round: equal costs must not send acknowledgements along another trunk.
  for (auto direction = facts.data.rbegin(); direction != facts.data.rend(); ++direction)
    facts.acks.push_back(*direction ^ 1);
  facts.rtt_s = 2 * facts.delay_s + serialization_s(topology, facts.data, tcp.segment + kHeaderBytes) +
                serialization_s(topology, facts.acks, kHeaderBytes);
  facts.bottleneck = slowest(topology, facts.data);
  facts.ack_limit = slowest(topology, facts.acks) / ack_share(tcp.segment);
  facts.window_limit = window_limit(topology, tcp, facts, source, target, facts.rtt_s);
  return facts;
}

ConnectionFacts facts_at(const Topology& topology, const TcpSpec& tcp, int source, int target,
                         const ConnectionFacts& own, const std::vector<double>& rates,
                         const std::vector<double>& delays_s) {
  ConnectionFacts facts = own;
  facts.delay_s = total_s(delays_s, own.data);
  facts.rtt_s = facts.delay_s + total_s(delays_s, own.acks) +
                serialization_s(rates, own.data, tcp.segment + kHeaderBytes) +
                serialization_s(rates, own.acks, kHeaderBytes);
  facts.bottleneck = slowest(rates, own.data);
  facts.ack_limit = slowest(rates, own.acks) / ack_share(tcp.segment);
  facts.window_limit = window_limit(topology, tcp, facts, source, target, own.rtt_s);
  return facts;
}

double alone_rate(const ConnectionFacts& facts, int segment, int connections, int among) {
  double rate = payload_rate(std::min(facts.bottleneck, facts.ack_limit) / among, segment);
  if (facts.rtt_s > 0) rate = std::min(rate, facts.window_limit * connections / facts.rtt_s);
  return rate;
}

double tail_s(const Topology& topology, const ConnectionFacts& facts, int segment, std::int64_t bytes) {
  return facts.delay_s + tail_without_delay_s(topology, facts.data, facts.bottleneck, segment, bytes);
}

double tail_s(const std::vector<double>& rates, const ConnectionFacts& facts, int segment,
              std::int64_t bytes) {
  return facts.delay_s + tail_without_delay_s(rates, facts.data, slowest(rates, facts.data), segment, bytes);
}

double window_kept_after_idle(double idle_s, double rtt_s) {
  return std::exp2(-std::floor(idle_s / retransmission_timeout_s(rtt_s)));
}

double smooth_window_kept_after_idle(double idle_s, double rtt_s) {
  const double timeouts = idle_s / retransmission_timeout_s(rtt_s);
  return timeouts <= 1 ? 1 : std::exp2(0.5 - timeouts);
}

}  // namespace longhaul
