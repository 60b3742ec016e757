#include "sim/network/drawn_loads.h"

#include <cmath>
#include <utility>

#include "net/tcp/framing.h"
#include "sim/network/clock.h"

namespace longhaul {
namespace {

constexpr int kLargestSegment = 65483;

TcpSpec with_least_overhead(TcpSpec tcp) {
  tcp.segment = kLargestSegment;
  return tcp;
}

}  // namespace

DrawnLoads::DrawnLoads(const NetworkSpec& spec, const Topology& topology, std::uint64_t seed)
    : tcp_(with_least_overhead(spec.tcp)),
      topology_(topology),
      times_(*spec.message_time, seed),
      flows_(tcp_, topology) {}

void DrawnLoads::send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts) {
  const double rate = payload_rate(topology_.bottleneck(transfer.source, transfer.target), tcp_.segment);
  Transmission drawn = transfer;
  drawn.bytes = std::llround(times_.seconds(transfer.key) * rate);
  if (drawn.bytes > 0) return flows_.send(drawn, std::move(on_arrival), parts);
  after(0, std::move(on_arrival));
}

}  // namespace longhaul
