// The flow fidelity: transfers are fluids that share links max-min fairly, with TCP's window in front
// (flow_channel.h). One event a change: rates are solved again only when the set of sending channels changed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sim/network/flow_channel.h"
#include "sim/network/network.h"

namespace longhaul {

class FlowNetwork : public Network {
 public:
  // `topology` must outlive it.
  FlowNetwork(const TcpSpec& tcp, const Topology& topology);

  void send(int source, int target, std::int64_t bytes, Arrival on_arrival) override;
  const std::vector<LinkLoad>& loads() const override { return loads_.loads(); }

 private:
  FlowChannel& channel(int source, int target);
  void request_update();
  void update();
  void advance_all(double now);
  void finish_transfers(FlowChannel& channel, double now);
  void count(const FlowChannel& channel, std::int64_t bytes);
  void share_links(double now);
  void plan_next(double now);

  TcpSpec tcp_;
  const Topology& topology_;
  std::vector<double> capacity_;  // bit/s on the wire, by direction
  // By (source, target): the order of everything that could tie.
  std::map<std::pair<int, int>, std::unique_ptr<FlowChannel>> channels_;
  std::map<std::pair<int, int>, FlowChannel*> busy_;  // those with data
  LinkLoads loads_;
  bool update_requested_ = false;
  std::uint64_t plan_ = 0;  // the latest plan_next(); an older wake-up is void
};

}  // namespace longhaul
