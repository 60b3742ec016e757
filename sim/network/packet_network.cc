#include "sim/network/packet_network.h"

#include <ns3/boolean.h>
#include <ns3/config.h>
#include <ns3/nstime.h>
#include <ns3/string.h>
#include <ns3/tcp-bbr.h>
#include <ns3/tcp-socket-base.h>
#include <ns3/type-id.h>
#include <ns3/uinteger.h>

#include <cmath>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "net/tcp/framing.h"
#include "sim/network/clock.h"
#include "sim/network/idle_restart.h"

namespace longhaul {
namespace {

constexpr double kWatchEvery_s = 0.02;
// No byte for this long, while some are under way, is a stalled simulation and no result.
constexpr double kStalledAfter_s = 20;

// BBR paces at its own estimate after idling and so restarts nothing: ns-3's as it is.
ns3::TypeId congestion_control_of(const TcpSpec& tcp) {
  if (tcp.congestion_control == "bbr") return ns3::TcpBbr::GetTypeId();
  return tcp.congestion_control == "cubic" ? HostCubic::GetTypeId() : HostReno::GetTypeId();
}

const TcpSpec& with_defaults_set(const TcpSpec& tcp) {
  const ns3::TypeId control = congestion_control_of(tcp);
  ns3::Config::SetDefault("ns3::TcpL4Protocol::SocketType", ns3::TypeIdValue(control));
  if (control != ns3::TcpBbr::GetTypeId())
    ns3::Config::SetDefault(control.GetName() + "::SlowStartAfterIdle",
                            ns3::BooleanValue(tcp.slow_start_after_idle));
  ns3::Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                          ns3::TypeIdValue(ns3::TypeId::LookupByName("ns3::TcpClassicRecovery")));
  ns3::Config::SetDefault("ns3::TcpSocket::SegmentSize",
                          ns3::UintegerValue(static_cast<std::uint64_t>(tcp.segment)));
  ns3::Config::SetDefault("ns3::TcpSocket::InitialCwnd", ns3::UintegerValue(kInitialWindowSegments));
  ns3::Config::SetDefault("ns3::TcpSocket::DelAckCount", ns3::UintegerValue(kSegmentsPerAck));
  ns3::Config::SetDefault("ns3::TcpSocket::DelAckTimeout", ns3::TimeValue(ns3::Seconds(kDelayedAck_s)));
  ns3::Config::SetDefault("ns3::TcpSocket::TcpNoDelay", ns3::BooleanValue(true));
  ns3::Config::SetDefault("ns3::TcpSocketBase::UseEcn", ns3::StringValue(tcp.ecn ? "On" : "Off"));
  return tcp;
}

}  // namespace

PacketNetwork::PacketNetwork(const TcpSpec& tcp, const Topology& topology,
                             std::vector<std::pair<int, int>> ends, std::uint64_t seed,
                             std::unique_ptr<Variation> variation)
    : tcp_(with_defaults_set(tcp)),
      topology_(topology),
      ends_(std::move(ends)),
      loads_(2 * topology.links().size()),
      nodes_(tcp_, topology_, ends_, seed, loads_),
      variation_(std::move(variation)) {
  add_channels();
  for (LinkDirection link_direction = 0;
       variation_ && link_direction < static_cast<int>(2 * topology_.links().size()); ++link_direction)
    apply_variation(link_direction);
  after(0, [this] { connect_all(); });
}

void PacketNetwork::add_channels() {
  constexpr int kFirstPort = 10000, kPorts = 39000;
  std::map<int, int> next_port;  // by receiver
  double longest_rtt_s = 0;
  for (const auto& [source, target] : ends_) {
    int& used = next_port[target];
    if (used + tcp_.connections > kPorts)
      throw InputError("network.tcp.connections",
                       "found " + std::to_string(tcp_.connections) + ", too many for one receiver",
                       "at most " + std::to_string(kPorts) + " connections to a replica",
                       "use fidelity \"flow\"");
    ConnectionFacts facts = facts_between(source, target);
    longest_rtt_s = std::max(longest_rtt_s, facts.rtt_s);
    const std::string name = topology_.node_name(source) + " to " + topology_.node_name(target);
    channels_[{source, target}].channel = std::make_unique<PacketChannel>(
        name, tcp_, std::move(facts), PacketChannel::End{nodes_.node(source), nodes_.address(source)},
        PacketChannel::End{nodes_.node(target), nodes_.address(target)},
        static_cast<std::uint16_t>(kFirstPort + used));
    used += tcp_.connections;
  }
  // Time for the handshakes; with random loss for a few repetitions of them (3 s each).
  ready_s_ = 1 + 4 * longest_rtt_s + (tcp_.loss > 0 ? 30 : 0);
}

// Sockets get their buffers once: for the largest product of rate and round trip that is to come.
ConnectionFacts PacketNetwork::facts_between(int source, int target) const {
  const ConnectionFacts own = connection_facts(topology_, tcp_, source, target);
  if (!variation_) return own;
  return facts_at(topology_, tcp_, source, target, own, variation_->largest_rates(),
                  variation_->largest_delays_s());
}

bool PacketNetwork::is_busy() const {
  return any_of(channels_, [](const auto& entry) { return entry.second.channel->is_busy(); });
}

void PacketNetwork::apply_variation(LinkDirection direction) {
  nodes_.set_rate(direction, variation_->capacities()[as_index(direction)]);
  nodes_.set_delay(direction / 2, variation_->delays_s()[as_index(direction)]);
}

// The next change is an event only while something is under way, as watch().
void PacketNetwork::follow_variation() {
  const std::int64_t now = std::llround((now_s() - ready_s_) * 1e9);
  variation_->advance_to(now);
  for (const LinkDirection direction : variation_->changed()) apply_variation(direction);
  const std::int64_t next_ns = variation_->next_change_ns();
  is_varying_ = next_ns != Variation::kNever;
  if (!is_varying_) return;
  simulator_clock().after_ns(next_ns - now, [this] {
    is_varying_ = is_busy();
    if (is_varying_) follow_variation();
  });
}

void PacketNetwork::connect_all() {
  for (auto& [ends, watched] : channels_) watched.channel->connect();
}

void PacketNetwork::send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts) {
  const std::int64_t bytes = transfer.bytes;
  Watched& watched = channels_.at({transfer.source, transfer.target});
  PacketChannel& channel = *watched.channel;
  if (!channel.is_busy()) watched.moved_s = now_s();
  loads_.begin(channel.facts().data, now_s());
  if (variation_ && !is_varying_) follow_variation();
  channel.send(bytes, [this, &channel, bytes, parts, begun_s = now_s(), arrived = std::move(on_arrival)] {
    loads_.end(channel.facts().data, now_s());
    if (parts) *parts += known_parts(topology_, channel.facts(), tcp_, bytes, now_s() - begun_s);
    arrived();
  });
  if (is_watching_) return;
  is_watching_ = true;
  after(kWatchEvery_s, [this] { watch(); });
}

// Only while something is under way, so that a replay in which all replicas wait runs out of events.
void PacketNetwork::watch() {
  beat();
  is_watching_ = check_progress();
  if (is_watching_) after(kWatchEvery_s, [this] { watch(); });
}

bool PacketNetwork::check_progress() {
  bool is_busy = false;
  for (auto& [ends, watched] : channels_) {
    if (!watched.channel->is_busy()) continue;
    is_busy = true;
    if (watched.received != watched.channel->received()) {
      watched.received = watched.channel->received();
      watched.moved_s = now_s();
    }
    if (now_s() - watched.moved_s > kStalledAfter_s)
      throw RunError("stalled: the connection " + watched.channel->name() + " received nothing for " +
                     human_duration(now_s() - watched.moved_s) + " of simulated time (queue \"" + tcp_.queue +
                     "\", ecn " + (tcp_.ecn ? "true" : "false") +
                     "); ns-3's TCP is known to get stuck after losses, so this is no synchronization time");
  }
  return is_busy;
}

}  // namespace longhaul
