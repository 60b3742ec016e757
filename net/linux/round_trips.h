// The round trips that a sender measures, and its time-out (RFC 6298 as net/ipv4/tcp_input.c of Linux 6.18
// has it: the deviation falls more slowly than it rises, and counts as 200 ms at least).
#pragma once

#include <algorithm>
#include <cstdint>

#include "net/linux/packet.h"

namespace longhaul::linux_tcp {

constexpr Nanoseconds kLeastTimeOut = 200 * kMillisecond;  // TCP_RTO_MIN

class RoundTrips {
 public:
  // `first`: measured when the connection was made.
  explicit RoundTrips(Nanoseconds first)
      : smoothed_(first),
        variation_(std::max(2 * first, kLeastTimeOut)),
        deviation_(first / 2),
        round_deviation_(variation_),
        least_(first) {}

  Nanoseconds smoothed() const { return smoothed_; }
  Nanoseconds least() const { return least_; }
  Nanoseconds time_out() const { return smoothed_ + variation_; }

  // `sample` of the first segment that an acknowledgement covers, `latest` of the last one. `first`, `next`:
  // the sender's first unacknowledged segment and its next one.
  void measure(Nanoseconds sample, Nanoseconds latest, std::int32_t first, std::int32_t next) {
    least_ = std::min(least_, latest);
    Nanoseconds error = sample - smoothed_;
    smoothed_ += error / 8;
    if (error < 0) {
      error = -error - deviation_;
      if (error > 0) error /= 8;
    } else {
      error -= deviation_;
    }
    deviation_ += error / 4;
    const Nanoseconds four = 4 * deviation_;
    if (four > round_deviation_) {
      round_deviation_ = four;
      variation_ = std::max(variation_, four);
    }
    if (first <= round_end_) return;
    if (round_deviation_ < variation_) variation_ -= (variation_ - round_deviation_) / 4;
    round_end_ = next;
    round_deviation_ = kLeastTimeOut;
  }

 private:
  Nanoseconds smoothed_, variation_, deviation_, round_deviation_, least_;
  std::int32_t round_end_ = 0;
};

}  // namespace longhaul::linux_tcp
