#include "replay/flow/drawn_loads.h"

#include <cmath>
#include <utility>

#include "net/tcp/framing.h"

namespace longhaul {
namespace {

TcpSpec with_least_overhead(TcpSpec tcp) {
  tcp.segment = 65483;  // the largest there is
  return tcp;
}

}  // namespace

DrawnLoads::DrawnLoads(const NetworkSpec& spec, const Topology& topology, FlowClock& clock,
                       std::uint64_t seed)
    : tcp_(with_least_overhead(spec.tcp)),
      topology_(topology),
      clock_(clock),
      times_(*spec.message_time, seed),
      flows_(tcp_, topology, clock) {}

void DrawnLoads::send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts) {
  const double rate = payload_rate(topology_.bottleneck(transfer.source, transfer.target), tcp_.segment);
  Transmission drawn = transfer;
  drawn.bytes = std::llround(times_.seconds(transfer.key) * rate);
  if (drawn.bytes > 0) return flows_.send(drawn, std::move(on_arrival), parts);
  clock_.after(0, std::move(on_arrival));
}

}  // namespace longhaul
