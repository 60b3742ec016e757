// The packet fidelity: ns-3's TCP, packet by packet, set up as the hosts of a training job are
// (docs/reference/packet.md).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/scenario/case.h"
#include "net/topology.h"
#include "net/variation/variation.h"
#include "replay/network/network.h"
#include "sim/network/packet_channel.h"
#include "sim/network/packet_topology.h"

namespace longhaul {

class PacketNetwork : public Network {
 public:
  // Sets ns-3's global defaults. `topology` must outlive it; `ends` are all that will send. `variation`: what
  // changes with time (check_for_packets()), or null.
  PacketNetwork(const TcpSpec& tcp, const Topology& topology, std::vector<std::pair<int, int>> ends,
                std::uint64_t seed, std::unique_ptr<Variation> variation = nullptr);

  void send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts = nullptr) override;
  double ready_s() const override { return ready_s_; }
  const std::vector<LinkLoad>& loads() override { return loads_.loads(); }

 private:
  struct Watched {
    std::unique_ptr<PacketChannel> channel;
    std::int64_t received = 0;  // when it was last seen to move
    double moved_s = 0;
  };

  void add_channels();
  ConnectionFacts facts_between(int source, int target) const;
  void apply_variation(LinkDirection direction);
  void follow_variation();
  bool is_busy() const;
  void connect_all();
  void watch();
  bool check_progress();

  TcpSpec tcp_;
  const Topology& topology_;
  std::vector<std::pair<int, int>> ends_;
  LinkLoads loads_;
  PacketTopology nodes_;
  std::unique_ptr<Variation> variation_;  // null: nothing varies
  bool is_varying_ = false;               // the next change is an event
  std::map<std::pair<int, int>, Watched> channels_;
  double ready_s_ = 0;
  bool is_watching_ = false;
};

}  // namespace longhaul
