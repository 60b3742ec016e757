#include "net/message_times.h"

#include <cmath>

#include "core/random.h"

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

}  // namespace longhaul
