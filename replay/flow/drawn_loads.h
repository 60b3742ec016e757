// A star whose messages draw their times (network.message_time): a message puts so many bytes on its links as
// take the drawn time alone on them, and the flow network shares the links between all that is under way.
// Latency is 0 there, segments are the largest there are, so that headers, acknowledgements and start-up
// together stay below 1 % and sharing is all that the network adds.
#pragma once

#include <cstdint>
#include <vector>

#include "core/scenario/case.h"
#include "net/topology.h"
#include "replay/flow/flow_clock.h"
#include "replay/flow/flow_network.h"
#include "replay/network/message_costs.h"
#include "replay/network/network.h"

namespace longhaul {

class DrawnLoads : public Network {
 public:
  // `topology` and `clock` must outlive it.
  DrawnLoads(const NetworkSpec& spec, const Topology& topology, FlowClock& clock, std::uint64_t seed);

  void send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts = nullptr) override;
  // Of what was drawn, not of the payload.
  const std::vector<LinkLoad>& loads() override { return flows_.loads(); }

 private:
  TcpSpec tcp_;
  const Topology& topology_;
  FlowClock& clock_;
  MessageTimes times_;
  FlowNetwork flows_;
};

}  // namespace longhaul
