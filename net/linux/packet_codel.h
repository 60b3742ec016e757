// CoDel on the packets of one queue (RFC 8289), with the constants of fq_codel (RFC 8290): a packet that
// leaves is signalled, by a mark or by being dropped, once packets have waited longer than 5 ms for 100 ms,
// and then again after 100 ms / sqrt(count). The same on a fluid queue: net/tcp/congestion.h.
#pragma once

#include <cmath>
#include <cstdint>

#include "net/linux/packet.h"

namespace longhaul::linux_tcp {

class PacketCoDel {
 public:
  // Whether the packet that leaves now is signalled, having waited for `waited`. `left_bytes`: what the queue
  // holds behind it.
  bool signals(Nanoseconds waited, std::int64_t left_bytes, Nanoseconds now) {
    const bool is_late = stays_late(waited, left_bytes, now);
    if (is_signalling_) {
      if (!is_late) {
        is_signalling_ = false;
        return false;
      }
      if (now < next_) return false;
      ++count_;
      next_ += interval_of(count_);
      return true;
    }
    if (!is_late) return false;
    // A queue that is late again soon continues about where it was.
    const std::uint32_t since = count_ - first_count_;
    count_ = since > 1 && now - next_ < 16 * kInterval ? since : 1;
    first_count_ = count_;
    next_ = now + interval_of(count_);
    is_signalling_ = true;
    return true;
  }

 private:
  static constexpr Nanoseconds kTarget = 5 * kMillisecond, kInterval = 100 * kMillisecond;
  static constexpr std::int64_t kOnePacket = 1500;

  static Nanoseconds interval_of(std::uint32_t count) {
    return static_cast<Nanoseconds>(static_cast<double>(kInterval) / std::sqrt(count));
  }

  bool stays_late(Nanoseconds waited, std::int64_t left_bytes, Nanoseconds now) {
    if (waited < kTarget || left_bytes < kOnePacket) {
      late_from_ = kNever;
      return false;
    }
    if (late_from_ == kNever) late_from_ = now + kInterval;
    return now >= late_from_;
  }

  Nanoseconds late_from_ = kNever, next_ = 0;
  std::uint32_t count_ = 0, first_count_ = 0;
  bool is_signalling_ = false;
};

}  // namespace longhaul::linux_tcp
