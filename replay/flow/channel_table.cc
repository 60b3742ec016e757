#include "replay/flow/channel_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "net/tcp/congestion.h"
#include "net/tcp/framing.h"

namespace longhaul {

ChannelTable::ChannelTable(const TcpSpec& tcp, const Topology& topology, FairShares& shares,
                           std::uint64_t seed)
    : tcp_(tcp),
      topology_(topology),
      shares_(shares),
      seed_(seed),
      a_pair_(are_single() ? tcp.connections : 1),
      numbers_(as_index(topology.replicas()), PeerMap(-1)) {}

void ChannelTable::vary(const FlowVariation* variation) {
  variation_ = variation;
  first_ = variation->cross_flows();
  if (has_losses()) a_pair_ = tcp_.connections;
}

int ChannelTable::number_of(int source, int target) {
  int& number = numbers_[as_index(source)][target];
  if (number >= 0) return number;
  return number = add(source, target);
}

int ChannelTable::add(int source, int target) {
  const ConnectionFacts facts = connection_facts(topology_, tcp_, source, target);
  const FlowChannel::Rules rules{tcp_.connections / a_pair_,
                                 static_cast<double>(tcp_.segment),
                                 tcp_.congestion_control == "cubic",
                                 tcp_.congestion_control == "bbr",
                                 has_losses() && tcp_.loss_response == "linux",
                                 payload_rate(facts.bottleneck, tcp_.segment),
                                 a_pair_,
                                 tcp_.slow_start_after_idle,
                                 tcp_.loss_response == "linux"};
  const int first = end();
  for (int connection = 0; connection < a_pair_; ++connection) {
    Slot& made = slots_.emplace_back(variation_ ? variation_->present(facts, source, target) : facts, rules,
                                     make_reaction(facts, source, target, connection));
    if (variation_) made.origin = std::make_unique<Origin>(Origin{facts, source, target});
    const FlowChannel& channel = made.channel;
    shares_.add(
        {&channel.facts().data, &channel.facts().acks, static_cast<double>(rules.connections), cap(channel)});
  }
  return first;
}

double ChannelTable::cap(const FlowChannel& channel) const {
  const double rate_limit =
      std::min(channel.rate_limit() * 8 / payload_share(tcp_.segment), channel.facts().ack_limit);
  return variation_ ? variation_->cap(channel.facts(), rate_limit) : rate_limit;
}

// The transfers of a channel are mostly equal, and the links of its path lie far from each other.
double ChannelTable::tail_s(Slot& slot, std::int64_t bytes) const {
  if (variation_) return variation_->tail_s(slot.channel.facts(), bytes);
  const std::int64_t last = (bytes - 1) % tcp_.segment + 1, alike = bytes > last ? tcp_.segment + last : last;
  if (slot.tail_bytes == alike) return slot.tail_s;
  slot.tail_bytes = alike;
  return slot.tail_s = longhaul::tail_s(topology_, slot.channel.facts(), tcp_.segment, bytes);
}

double ChannelTable::loss_of(const ConnectionFacts& facts) const {
  return path_loss(tcp_.loss, static_cast<int>(facts.data.size()),
                   variation_ ? variation_->losses(facts) : std::vector<double>());
}

std::unique_ptr<CongestionReaction> ChannelTable::make_reaction(const ConnectionFacts& facts, int source,
                                                                int target, int connection) const {
  if (!has_signals() && !has_losses()) return nullptr;
  std::optional<CoDel> queue;
  if (tcp_.queue == "fq_codel") queue.emplace(tcp_.ecn);
  std::optional<RandomLosses> losses;
  if (has_losses()) {
    RandomStream stream(seed_, Purpose::kLoss, static_cast<std::uint32_t>(source),
                        static_cast<std::uint32_t>(target) << 16 | static_cast<std::uint32_t>(connection));
    losses.emplace(loss_of(facts), tcp_.segment, std::move(stream));
  }
  return std::make_unique<CongestionReaction>(facts.rtt_s, retransmission_timeout_s(facts.rtt_s), queue,
                                              std::move(losses), tcp_.loss_response == "linux");
}

}  // namespace longhaul
