// When the segments of one sender may leave (net/ipv4/tcp_output.c of Linux 6.18: the earliest departure
// time, in our words): each takes its bytes at the pacing rate. One that was late takes less, by at most half
// of that. The first ten of a connection leave at once. Rates are bytes of payload a second.
#pragma once

#include <algorithm>
#include <cstdint>

#include "net/linux/packet.h"

namespace longhaul::linux_tcp {

class Pacer {
 public:
  Nanoseconds next_ns() const { return next_ns_; }

  // A segment of `bytes` is handed on at `now`, `count` were before it. When it leaves.
  Nanoseconds take(int bytes, double rate, std::int64_t count, Nanoseconds now) {
    const Nanoseconds leaves = std::max(next_ns_, now), late = leaves - next_ns_;
    next_ns_ = leaves;
    if (count + 1 >= kUnpaced) {
      const auto length = static_cast<Nanoseconds>(1e9 * bytes / rate);
      next_ns_ += length - std::min(length / 2, late);
    }
    return leaves;
  }

 private:
  static constexpr int kUnpaced = 10;
  Nanoseconds next_ns_ = 0;
};

}  // namespace longhaul::linux_tcp
