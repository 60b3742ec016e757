// A network whose messages are counted by the sites of their ends.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "replay/network/network.h"
#include "replay/output/rollout_rows.h"

namespace longhaul {

class CountedNetwork : public Network {
 public:
  // `site_of`: by host; empty: nothing is counted.
  CountedNetwork(std::unique_ptr<Network> network, std::vector<int> site_of)
      : network_(std::move(network)), site_of_(std::move(site_of)) {
    for (const int site : site_of_)
      if (as_index(site) >= out_.size()) out_.resize(as_index(site) + 1), in_.resize(as_index(site) + 1);
    network_->set_heartbeat([this] { beat(); });
  }

  void send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts = nullptr) override {
    if (!site_of_.empty()) {
      const int from = site_of_[as_index(transfer.source)], to = site_of_[as_index(transfer.target)];
      if (from != to) {
        out_[as_index(from)] += transfer.bytes;
        in_[as_index(to)] += transfer.bytes;
      }
    }
    network_->send(transfer, std::move(on_arrival), parts);
  }
  double ready_s() const override { return network_->ready_s(); }
  std::optional<SegmentCount> segments() const override { return network_->segments(); }
  const std::vector<LinkLoad>& loads() override { return network_->loads(); }

  // Bytes of payload that left each site for another one, and that came from others.
  const std::vector<std::int64_t>& out() const { return out_; }
  const std::vector<std::int64_t>& in() const { return in_; }

 private:
  const std::unique_ptr<Network> network_;
  const std::vector<int> site_of_;
  std::vector<std::int64_t> out_, in_;  // by site
};

// By site of the topology, in its order; none where it has no sites.
std::vector<SiteBytes> bytes_of_sites(const Topology& topology, const CountedNetwork& network);

}  // namespace longhaul
