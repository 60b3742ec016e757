#include "sim/network/drawn_loads.h"

#include <cmath>
#include <utility>

#include "net/framing.h"
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

void DrawnLoads::send(int source, int target, std::int64_t bytes, Arrival on_arrival, SyncParts* parts) {
  flows_.send(source, target, bytes, std::move(on_arrival), parts);
}

void DrawnLoads::send_message(const MessageKey& key, int source, int target, std::int64_t, Arrival on_arrival,
                              SyncParts* parts) {
  const double rate = topology_.bottleneck(source, target) * payload_share(tcp_.segment) / 8;
  const std::int64_t drawn = std::llround(times_.seconds(key) * rate);
  if (drawn > 0) return flows_.send(source, target, drawn, std::move(on_arrival), parts);
  after_ns(0, std::move(on_arrival));
}

}  // namespace longhaul
