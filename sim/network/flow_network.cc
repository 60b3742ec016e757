#include "sim/network/flow_network.h"

#include <algorithm>

#include "net/framing.h"
#include "net/max_min.h"
#include "sim/network/clock.h"

namespace longhaul {

FlowNetwork::FlowNetwork(const TcpSpec& tcp, const Topology& topology)
    : tcp_(tcp), topology_(topology), loads_(2 * topology.links().size()) {
  for (int direction = 0; direction < static_cast<int>(2 * topology.links().size()); ++direction)
    capacity_.push_back(topology.rate(direction));
}

FlowChannel& FlowNetwork::channel(int source, int target) {
  std::unique_ptr<FlowChannel>& channel = channels_[{source, target}];
  if (!channel) {
    const FlowChannel::Rules rules{tcp_.connections, static_cast<double>(tcp_.segment),
                                   tcp_.congestion_control == "cubic"};
    channel = std::make_unique<FlowChannel>(connection_facts(topology_, tcp_, source, target), rules);
  }
  return *channel;
}

void FlowNetwork::send(int source, int target, std::int64_t bytes, Arrival on_arrival) {
  FlowChannel& chosen = channel(source, target);
  if (!chosen.has_data()) busy_[{source, target}] = &chosen;
  chosen.push({bytes, std::move(on_arrival)}, now_s());
  loads_.begin(chosen.facts().data, now_s());
  request_update();
}

// Many transfers begin and end in one instant; the rates are solved once for all of them.
void FlowNetwork::request_update() {
  if (update_requested_) return;
  update_requested_ = true;
  after(0, [this] { update(); });
}

void FlowNetwork::update() {
  constexpr std::uint64_t kPlansPerBeat = 256;
  if (plan_ % kPlansPerBeat == 0) beat();
  update_requested_ = false;
  const double now = now_s();
  advance_all(now);
  share_links(now);
  plan_next(now);
}

void FlowNetwork::advance_all(double now) {
  for (auto entry = busy_.begin(); entry != busy_.end();) {
    FlowChannel& channel = *entry->second;
    channel.advance(now);
    finish_transfers(channel, now);
    entry = channel.has_data() ? std::next(entry) : busy_.erase(entry);
  }
}

void FlowNetwork::finish_transfers(FlowChannel& channel, double now) {
  while (channel.has_data() && channel.is_first_sent()) {
    FlowChannel::Transfer transfer = channel.pop(now);
    count(channel, transfer.bytes);
    const double tail = tail_s(topology_, channel.facts(), tcp_.segment, transfer.bytes);
    after(tail, [this, &channel, arrived = std::move(transfer.on_arrival)] {
      loads_.end(channel.facts().data, now_s());
      arrived();
    });
  }
}

void FlowNetwork::count(const FlowChannel& channel, std::int64_t bytes) {
  const std::int64_t segments = (bytes + tcp_.segment - 1) / tcp_.segment;
  for (const LinkDirection direction : channel.facts().data)
    loads_.add_bytes(direction, bytes + segments * kHeaderBytes);
}

void FlowNetwork::share_links(double now) {
  const double wire_bits_per_byte = 8 / payload_share(tcp_.segment);
  std::vector<FlowChannel*> sending;
  std::vector<Flow> flows;
  for (const auto& [ends, channel] : busy_) {
    if (!channel->may_send()) continue;
    sending.push_back(channel);
    flows.push_back({&channel->facts().data, &channel->facts().acks,
                     static_cast<double>(channel->connections()),
                     channel->rate_limit() * wire_bits_per_byte});
  }
  const std::vector<double> rates = max_min_rates(capacity_, flows, ack_share(tcp_.segment));
  for (std::size_t i = 0; i < sending.size(); ++i) sending[i]->set_rate(rates[i] / wire_bits_per_byte, now);
}

void FlowNetwork::plan_next(double now) {
  double wait = kUnlimited;
  for (const auto& [ends, channel] : busy_)
    wait = std::min(wait, channel->may_send() ? channel->next_change_s() : channel->release_s() - now);
  ++plan_;
  if (busy_.empty()) return;
  after(std::max(0., wait), [this, plan = plan_] {
    if (plan == plan_) update();
  });
}

}  // namespace longhaul
