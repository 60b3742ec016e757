#include "replay/predict/segment_estimate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/index.h"
#include "net/tcp/connection.h"
#include "net/tcp/framing.h"
#include "net/variation/variation.h"

namespace longhaul {
namespace {

double at_or_0(const std::map<LinkDirection, double>& values, LinkDirection direction) {
  const auto found = values.find(direction);
  return found == values.end() ? 0 : found->second;
}

}  // namespace

std::int64_t segments_of(std::int64_t transfers, std::int64_t bytes, const TcpSpec& tcp) {
  if (transfers == 0 || bytes == 0) return 0;
  constexpr double kRounding = 1e-9, kMost = 9e18;
  const double message = static_cast<double>(bytes) / static_cast<double>(transfers);
  const double parts = std::min<double>(tcp.connections, std::max(1., message));
  const double count =
      static_cast<double>(transfers) * parts * std::ceil(message / parts / tcp.segment - kRounding);
  return static_cast<std::int64_t>(std::llround(std::min(count, kMost)));
}

OtherTraffic::OtherTraffic(const Case& config, const Topology& topology)
    : topology_(topology), tcp_(config.network.tcp) {
  Variation variation(config.network.variation, topology, config.seed);
  variation.advance_to(0);
  capacities_ = variation.capacities();
  for (std::size_t i = 0; i < capacities_.size(); ++i)
    if (capacities_[i] == 0) capacities_[i] = topology.rate(static_cast<LinkDirection>(i));
  for (const Variation::CrossFlow& flow : variation.cross_flows()) {
    const BackgroundSpec& spec = config.network.variation.background[as_index(flow.background)];
    const double is_on = spec.on_s ? *spec.on_s / (*spec.on_s + *spec.off_s) : 1;
    flows_.push_back({flow.data, flow.weight, is_on});
    for (const LinkDirection direction : flow.data) others_at_[direction] += is_on * flow.weight;
  }
}

// `own`: connections of the replicas by direction; `elsewhere`: on directions that are not there.
double OtherTraffic::segments_a_second(const std::map<LinkDirection, double>& own, double elsewhere) const {
  double sum = 0;
  for (const Flow& flow : flows_) {
    double rate = kUnlimited;
    for (const LinkDirection direction : flow.data) {
      const auto known = own.find(direction);
      const double beside = others_at_.at(direction) - flow.is_on * flow.connections +
                            (known == own.end() ? elsewhere : known->second);
      rate =
          std::min(rate, capacities_[as_index(direction)] * flow.connections / (flow.connections + beside));
    }
    if (rate != kUnlimited) sum += flow.is_on * payload_rate(rate, tcp_.segment) / tcp_.segment;
  }
  return sum;
}

OtherTraffic::Beside OtherTraffic::beside(const Collective& collective, const GroupExchange& group,
                                          const std::vector<int>& replicas, bool are_many) const {
  constexpr int kMostMessages = 1 << 12;  // in a large group only some rounds are asked
  struct Load {
    double connections = 0, bytes = 0;
  };
  const int rounds = collective.rounds(group),
            asked = std::clamp(kMostMessages / group.members, 1, std::max(1, rounds));
  const auto replica = [&](int member) { return replicas.empty() ? member : replicas[as_index(member)]; };
  std::map<std::pair<int, int>, ConnectionFacts> paths;
  std::map<LinkDirection, double> own;  // connections of the replicas, mean over rounds
  double asked_s = 0;
  for (int i = 0; i < std::min(asked, rounds); ++i) {
    const int round = static_cast<int>(std::int64_t{i} * rounds / asked);
    std::map<LinkDirection, Load> loads;
    double latency_s = 0, longest_s = 0;
    for (int member = 0; member < group.members; ++member)
      for (const Message& message : collective.round(group, member, round).sends) {
        const auto [path, is_new] = paths.try_emplace({member, message.peer});
        if (is_new) path->second = connection_facts(topology_, tcp_, replica(member), replica(message.peer));
        latency_s = std::max(latency_s, path->second.delay_s);
        for (const LinkDirection direction : path->second.data) {
          loads[direction].connections += tcp_.connections;
          loads[direction].bytes += static_cast<double>(message.bytes);
        }
      }
    for (const auto& [direction, load] : loads) {
      const double share = load.connections / (load.connections + at_or_0(others_at_, direction));
      longest_s = std::max(
          longest_s, load.bytes / (share * payload_rate(capacities_[as_index(direction)], tcp_.segment)));
      own[direction] += load.connections / asked;
    }
    asked_s += longest_s + latency_s;
  }
  double elsewhere = 0;
  for (const auto& [direction, connections] : own)
    elsewhere += are_many ? connections / static_cast<double>(own.size()) : 0;
  const double seconds = asked_s * rounds / asked;
  return {seconds, seconds * segments_a_second(own, elsewhere)};
}

}  // namespace longhaul
