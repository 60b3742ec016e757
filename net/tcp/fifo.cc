#include "net/tcp/fifo.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/units.h"
#include "net/tcp/connection.h"
#include "net/tcp/framing.h"

namespace longhaul {

std::int64_t fifo_bytes(const TcpSpec& tcp, double rate, double rtt_s) {
  constexpr std::int64_t kLeastSegments = 20, kEverything = std::int64_t{1} << 30;
  if (tcp.queue_bytes) return std::llround(*tcp.queue_bytes);
  const double bytes = tcp.queue_products * rate / 8 * rtt_s;
  const std::int64_t least = kLeastSegments * (tcp.segment + kHeaderBytes);
  return std::isfinite(bytes) ? std::max(least, static_cast<std::int64_t>(bytes)) : kEverything;
}

void check_fifo_for_bbr(const TcpSpec& tcp, const Topology& topology) {
  if (tcp.queue != "fifo" && tcp.trunk_queue != "fifo") return;
  constexpr double kEnough = 1.5;  // products; measured: at 1 most exchanges recover, at 0.25 none
  double products = tcp.queue_bytes ? std::numeric_limits<double>::infinity() : tcp.queue_products;
  const int step = std::max(1, (topology.replicas() + 63) / 64);  // at most 64 are looked at
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
      fmt::format("at least {} products, queue \"host\" or \"fq_codel\", congestion_control \"cubic\", "
                  "\"reno\", or fidelity \"linux\"",
                  kEnough),
      "after losses ns-3's BBR stays at a few packets a round trip: exchanges take hundreds of times "
      "too long (docs/reference/packet.md)");
}

}  // namespace longhaul
