#include "net/tcp/fifo.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "core/base/errors.h"
#include "core/base/units.h"
#include "net/tcp/connection.h"
#include "net/tcp/framing.h"

namespace longhaul {
namespace {

// So that at most 64 of `count` are looked at.
int step_over(int count) {
  constexpr int kMost = 64;
  return std::max(1, (count + kMost - 1) / kMost);
}

constexpr double kRounding = 1e-6;
constexpr char kWhatToDo[] =
    "losses and time-outs in FIFOs are up to several times off in fidelity \"flow\": use fidelity "
    "\"packet\", queue \"host\" or \"fq_codel\", or network.tcp.accept_error if the error does not matter";

void check_trunks(const Topology& topology) {
  double most = 0;  // that all replicas send or receive together, bit/s
  for (const Link& link : topology.links())
    if (link.first < topology.replicas()) most += std::max(link.rate_forward, link.rate_backward);
  for (const Link& link : topology.links())
    if (link.first >= topology.replicas() && link.second >= topology.replicas() &&
        std::min(link.rate_forward, link.rate_backward) < most)
      throw InputError("network.tcp.queue",
                       fmt::format("found \"fifo\" where connections share the link {} of {}", link.name,
                                   human_rate(std::min(link.rate_forward, link.rate_backward))),
                       "no link between routers that the replicas can fill", kWhatToDo);
}

// Rounded up, so that what is asked for is enough.
std::string queue_size_for(const TcpSpec& tcp, double need, double product) {
  if (tcp.queue_bytes) return human_bytes(std::ceil(need / 1000) * 1000);
  return format_number(std::ceil(10 * need / product - kRounding) / 10);
}

void check_pair(const TcpSpec& tcp, const Topology& topology, int peers, int source, int target) {
  const ConnectionFacts facts = connection_facts(topology, tcp, source, target);
  if (!std::isfinite(facts.bottleneck)) return;
  const double need = fifo_need(tcp, facts.window_limit, peers);
  const auto room = static_cast<double>(fifo_bytes(tcp, facts.bottleneck, facts.rtt_s));
  if (need <= room * (1 + kRounding)) return;
  throw InputError(
      "network.tcp.queue_size",
      fmt::format("found a FIFO of {} from {} to {}, where {} connection{}{} may have {} in flight",
                  human_bytes(room), topology.node_name(source), topology.node_name(target), tcp.connections,
                  tcp.connections == 1 ? "" : "s",
                  peers > 1 ? fmt::format(" of {} replicas at a time", peers) : "", human_bytes(need)),
      fmt::format("a FIFO that holds it all: at least {}, or a network.tcp.window of at most {}",
                  queue_size_for(tcp, need, facts.bottleneck / 8 * facts.rtt_s),
                  human_bytes(std::floor(facts.window_limit * room / need))),
      kWhatToDo);
}

}  // namespace

std::int64_t fifo_bytes(const TcpSpec& tcp, double rate, double rtt_s) {
  constexpr std::int64_t kLeastSegments = 20, kEverything = std::int64_t{1} << 30;
  if (tcp.queue_bytes) return std::llround(*tcp.queue_bytes);
  const double bytes = tcp.queue_products * rate / 8 * rtt_s;
  const std::int64_t least = kLeastSegments * (tcp.segment + kHeaderBytes);
  return std::isfinite(bytes) ? std::max(least, static_cast<std::int64_t>(bytes)) : kEverything;
}

double fifo_payload(const TcpSpec& tcp, double rate, double rtt_s) {
  const double packet = tcp.segment + kIpTcpBytes;
  return static_cast<double>(fifo_bytes(tcp, rate, rtt_s)) * tcp.segment / packet;
}

int peers_at_once(const Collective& collective, int members) {
  constexpr std::int64_t kBytes = 1 << 20;
  const GroupExchange exchange{members, kBytes, 2};
  std::size_t most = 1;
  for (int member = 0; member < members; member += step_over(members)) {
    std::set<int> targets, sources;
    for (int index = 0; index < collective.rounds(exchange); ++index) {
      if (collective.awaits_receiver()) targets.clear(), sources.clear();
      const Round round = collective.round(exchange, member, index);
      for (const Message& message : round.sends) targets.insert(message.peer);
      for (const Message& message : round.receives) sources.insert(message.peer);
      most = std::max({most, targets.size(), sources.size()});
    }
  }
  return static_cast<int>(most);
}

double fifo_need(const TcpSpec& tcp, double window, int peers) {
  const double packet = tcp.segment + kIpTcpBytes + static_cast<double>(kIpTcpBytes) / kSegmentsPerAck;
  return peers * tcp.connections * window * packet / tcp.segment;
}

void check_fifo_for_flow(const TcpSpec& tcp, const Topology& topology, int peers) {
  if (tcp.accept_error) return;
  if (!topology.is_mesh()) check_trunks(topology);
  const int step = step_over(topology.replicas());
  for (int source = 0; source < topology.replicas(); source += step)
    for (int target = 0; target < topology.replicas(); target += step)
      if (source != target) check_pair(tcp, topology, peers, source, target);
}

void check_fifo_for_bbr(const TcpSpec& tcp, const Topology& topology) {
  if (tcp.queue != "fifo" && tcp.trunk_queue != "fifo") return;
  constexpr double kEnough = 1.5;  // products; measured: at 1 most exchanges recover, at 0.25 none
  double products = tcp.queue_bytes ? std::numeric_limits<double>::infinity() : tcp.queue_products;
  const int step = step_over(topology.replicas());
  for (int source = 0; source < topology.replicas() && tcp.queue_bytes; source += step)
    for (int target = 0; target < topology.replicas(); target += step) {
      if (source == target) continue;
      const ConnectionFacts facts = connection_facts(topology, tcp, source, target);
      products = std::min(products, *tcp.queue_bytes / (facts.bottleneck / 8 * facts.rtt_s));
    }
  if (products >= kEnough) return;
  throw InputError(
      "network.tcp.queue_size",
      fmt::format("found a FIFO of {} bandwidth-delay products with network.tcp.congestion_control \"bbr\"",
                  format_number(std::round(100 * products) / 100)),
      fmt::format("at least {} products, queue \"host\" or \"fq_codel\", or congestion_control "
                  "\"cubic\", \"reno\"",
                  kEnough),
      "after losses ns-3's BBR stays at a few packets a round trip: exchanges take hundreds of times "
      "too long (docs/reference/packet.md)");
}

}  // namespace longhaul
