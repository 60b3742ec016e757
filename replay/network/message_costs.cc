#include "replay/network/message_costs.h"

#include <algorithm>
#include <cmath>

#include "core/base/random.h"
#include "net/tcp/framing.h"

namespace longhaul {

// σ² = ln(1 + (std/mean)²), μ = ln mean − σ²/2.
MessageTimes::MessageTimes(const MessageTimeSpec& spec, std::uint64_t seed)
    : mean_s_(spec.mean), seed_(seed) {
  if (spec.std == 0) return;
  sigma_ = std::sqrt(std::log1p(spec.std * spec.std / (spec.mean * spec.mean)));
  mu_ = std::log(spec.mean) - sigma_ * sigma_ / 2;
}

double MessageTimes::seconds(const MessageKey& key) const {
  if (sigma_ == 0) return mean_s_;
  RandomStream stream(seed_, Purpose::kMessageTime, static_cast<std::uint32_t>(key.sender),
                      static_cast<std::uint32_t>(key.step), static_cast<std::uint16_t>(key.rule));
  stream.skip_to(static_cast<std::uint32_t>(key.bucket) << 20 | static_cast<std::uint32_t>(key.number));
  return stream.lognormal(mu_, sigma_);
}

MessageCosts::MessageCosts(const NetworkSpec& network, const Topology& topology, std::uint64_t seed)
    : tcp_(network.tcp), topology_(topology) {
  if (network.message_time) drawn_.emplace(*network.message_time, seed);
}

const MessageCosts::Way& MessageCosts::way(int source, int target) {
  const std::uint64_t ends = static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint32_t>(target);
  const auto known = ways_.find(ends);
  if (known != ways_.end()) return known->second;
  Path path = topology_.path(source, target);
  double rate = kUnlimited;
  for (const LinkDirection direction : path.directions) rate = std::min(rate, topology_.rate(direction));
  const double cap = topology_.connection_cap(source, target) * tcp_.connections / 8;
  return ways_[ends] = {std::move(path.directions), path.delay_s,
                        std::min(payload_rate(rate, tcp_.segment), cap)};
}

std::int64_t MessageCosts::time_ns(const MessageKey& key, const Way& way, std::int64_t bytes) const {
  const double seconds =
      drawn_ ? drawn_->seconds(key) : way.delay_s + static_cast<double>(bytes) / way.bytes_per_s;
  return std::llround(seconds * 1e9);
}

std::int64_t MessageCosts::sending_ns(const Way& way, std::int64_t bytes) const {
  return std::llround(static_cast<double>(bytes) / way.bytes_per_s * 1e9);
}

std::int64_t MessageCosts::latency_ns(const Way& way) const {
  return drawn_ ? 0 : std::llround(way.delay_s * 1e9);
}

std::int64_t MessageCosts::wire_bytes(std::int64_t bytes) const {
  return bytes + (bytes + tcp_.segment - 1) / tcp_.segment * kHeaderBytes;
}

}  // namespace longhaul
