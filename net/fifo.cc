#include "net/fifo.h"

#include <algorithm>
#include <cmath>

#include "core/errors.h"
#include "core/units.h"
#include "net/connection.h"
#include "net/framing.h"

namespace longhaul {

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

namespace {

constexpr char kWhatToDo[] =
    "its losses and time-outs are up to several times off in fidelity \"flow\": use fidelity \"packet\", "
    "queue "
    "\"host\" or \"fq_codel\", or network.tcp.accept_error if the error does not matter";

double all_access_rates(const Topology& topology) {
  double sum = 0;
  for (const Link& link : topology.links())
    if (link.first < topology.replicas()) sum += std::max(link.rate_forward, link.rate_backward);
  return sum;
}

void check_trunks(const Topology& topology) {
  const double most = all_access_rates(topology);
  for (const Link& link : topology.links())
    if (link.first >= topology.replicas() && link.second >= topology.replicas() &&
        std::min(link.rate_forward, link.rate_backward) < most)
      throw InputError({"", "network.tcp.queue",
                        "found \"fifo\" where connections share the link " + link.name + " of " +
                            human_rate(std::min(link.rate_forward, link.rate_backward)),
                        "no link between routers that the replicas can fill", kWhatToDo});
}

void check_pair(const TcpSpec& tcp, const Topology& topology, int source, int target) {
  constexpr double kDeep = 4, kOne = 1, kRounding = 1e-6;
  const ConnectionFacts facts = connection_facts(topology, tcp, source, target);
  const double product = facts.bottleneck / 8 * facts.rtt_s;
  const double products = tcp.queue_bytes ? *tcp.queue_bytes / product : tcp.queue_products;
  const bool is_limited =
      tcp.connections * facts.window_limit <= product * payload_share(tcp.segment) * (1 + kRounding);
  if (products >= (is_limited ? kOne : kDeep) * (1 - kRounding)) return;
  throw InputError(
      {"", "network.tcp.queue_size",
       "found " + format_number(products) + " bandwidth-delay products from " + topology.node_name(source) +
           " to " + topology.node_name(target),
       "at least 4, or at least 1 with windows (network.tcp.window, a matrix's throughput) of at most one "
       "product for all connections of a pair together",
       kWhatToDo});
}

}  // namespace

void check_fifo_for_flow(const TcpSpec& tcp, const Topology& topology) {
  constexpr int kMost = 64;
  if (tcp.accept_error) return;
  if (!topology.is_mesh()) check_trunks(topology);
  const int step = std::max(1, (topology.replicas() + kMost - 1) / kMost);
  for (int source = 0; source < topology.replicas(); source += step)
    for (int target = 0; target < topology.replicas(); target += step)
      if (source != target) check_pair(tcp, topology, source, target);
}

}  // namespace longhaul
