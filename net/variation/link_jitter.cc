#include "net/variation/link_jitter.h"

#include <cmath>

#include "core/base/hash.h"
#include "core/base/random.h"

namespace longhaul {

LinkJitter::LinkJitter(const JitterSpec& spec, std::uint64_t seed)
    : spec_(spec), seed_(seed), every_ns_(std::llround(spec.every_s * 1e9)) {}

LinkJitter::Factors LinkJitter::factors(const std::string& link, int direction, std::int64_t time_ns) const {
  RandomStream stream(seed_ ^ fnv1a(link), Purpose::kLinkJitter, static_cast<std::uint32_t>(direction),
                      static_cast<std::uint32_t>(time_ns / every_ns_));
  const auto factor = [&](double sigma) { return stream.lognormal(-sigma * sigma / 2, sigma); };
  const double rate = factor(spec_.rate_sigma);  // both are drawn, so that one σ does not move the other
  return {rate, factor(spec_.delay_sigma)};
}

}  // namespace longhaul
