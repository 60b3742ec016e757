#include "sim/simulated_replay.h"

#include <cmath>
#include <utility>

#include "core/base/errors.h"
#include "net/tcp/framing.h"
#include "replay/network/analytic_network.h"
#include "replay/network/message_costs.h"
#include "sim/network/clock.h"
#include "sim/network/flow_network.h"
#include "sim/network/packet_network.h"

namespace longhaul {
namespace {

TcpSpec with_least_overhead(TcpSpec tcp) {
  tcp.segment = 65483;  // the largest there is
  return tcp;
}

// A star whose messages draw their times (network.message_time): a message puts so many bytes on its links as
// take the drawn time alone on them, and the flow network shares the links between all that is under way.
// Latency is 0 there, segments are the largest there are, so that headers, acknowledgements and start-up
// together stay below 1 % and sharing is all that the network adds.
class DrawnLoads : public Network {
 public:
  // `topology` must outlive it.
  DrawnLoads(const NetworkSpec& spec, const Topology& topology, std::uint64_t seed)
      : tcp_(with_least_overhead(spec.tcp)),
        topology_(topology),
        times_(*spec.message_time, seed),
        flows_(tcp_, topology) {}

  void send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts = nullptr) override {
    const double rate = payload_rate(topology_.bottleneck(transfer.source, transfer.target), tcp_.segment);
    Transmission drawn = transfer;
    drawn.bytes = std::llround(times_.seconds(transfer.key) * rate);
    if (drawn.bytes > 0) return flows_.send(drawn, std::move(on_arrival), parts);
    after(0, std::move(on_arrival));
  }
  // Of what was drawn, not of the payload.
  const std::vector<LinkLoad>& loads() override { return flows_.loads(); }

 private:
  TcpSpec tcp_;
  const Topology& topology_;
  MessageTimes times_;
  FlowNetwork flows_;
};

}  // namespace

std::unique_ptr<Network> make_network(const NetworkSpec& spec, const Topology& topology,
                                      const std::function<std::vector<std::pair<int, int>>()>& used_ends,
                                      std::uint64_t seed) {
  if (spec.fidelity == "flow" && spec.message_time) {
    if (topology.is_mesh()) return std::make_unique<AnalyticNetwork>(spec, topology, seed, simulator_clock());
    return std::make_unique<DrawnLoads>(spec, topology, seed);
  }
  std::unique_ptr<Variation> variation;
  if (!spec.variation.is_empty()) variation = std::make_unique<Variation>(spec.variation, topology, seed);
  if (spec.fidelity == "flow") {
    auto network = std::make_unique<FlowNetwork>(spec.tcp, topology, seed);
    if (variation) network->vary(std::move(variation));
    return network;
  }
  if (spec.fidelity == "packet")
    return std::make_unique<PacketNetwork>(spec.tcp, topology, used_ends(), seed, std::move(variation));
  throw InputError("network.fidelity", "found \"" + spec.fidelity + "\"", "flow, packet");
}

Json simulated_replay(const Case& config, const Trace& trace, const std::string& folder,
                      ProgressReporter& reporter, const NetworkMaker& network_of) {
  if (config.network.fidelity == "analytic") return analytic_replay(config, trace, folder, reporter);
  if (config.network.fidelity == "linux") return linux_replay(config, trace, folder, reporter);
  return replay(config, trace, folder, reporter, simulator_clock(), network_of);
}

}  // namespace longhaul
