#include "net/variation/on_off_source.h"

#include <algorithm>
#include <cmath>

#include "core/base/hash.h"
#include "core/base/random.h"

namespace longhaul {

OnOffSource::OnOffSource(double on_s, double off_s, std::uint64_t seed, const std::string& name, int index)
    : on_s_(on_s), off_s_(off_s), seed_(seed ^ fnv1a(name)), index_(static_cast<std::uint32_t>(index)) {
  RandomStream first(seed_, Purpose::kBackground, index_, draws_++);
  is_on_ = first.uniform() < on_s_ / (on_s_ + off_s_);
  next_ns_ = draw_ns();
}

std::int64_t OnOffSource::draw_ns() {
  RandomStream stream(seed_, Purpose::kBackground, index_, draws_++);
  const double time_s = -(is_on_ ? on_s_ : off_s_) * std::log1p(-stream.uniform());
  constexpr double kLongest_s = 1e9;  // thirty years: sums stay within 63 bits of nanoseconds
  return std::max<std::int64_t>(1, std::llround(std::min(time_s, kLongest_s) * 1e9));
}

void OnOffSource::advance_to(std::int64_t time_ns) {
  while (next_ns_ <= time_ns) {
    is_on_ = !is_on_;
    next_ns_ += draw_ns();
  }
}

}  // namespace longhaul
