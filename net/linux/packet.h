// What travels in fidelity `linux`: a segment of data or an acknowledgement, and when timers of the kernel
// fire. Segments are numbered on their connection from 0; a message is a fixed number of them, the last one
// short. Times are nanoseconds of simulated time.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace longhaul::linux_tcp {

using Nanoseconds = std::int64_t;
constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();
constexpr Nanoseconds kMicrosecond = 1000, kMillisecond = 1000 * kMicrosecond;

// Segments begin … end − 1.
struct Range {
  std::int32_t begin = 0, end = 0;
};

// Segments that the first window of a receiver holds: half of tcp_rmem's default of 131072 bytes, rounded
// down to whole segments of 1460 bytes, in segments of 1448.
constexpr int kInitialReceiveWindow = 44;

constexpr int kSackRanges = 3;  // that fit beside timestamps (RFC 2018)

struct Packet {
  std::int32_t connection = 0;
  std::int32_t number = 0;  // of data: the segment; of an acknowledgement: the next one expected
  std::int32_t edge = 0;   // of an acknowledgement: the first segment that the receive window has no room for
  std::int32_t bytes = 0;  // on the wire, Ethernet's framing included
  Nanoseconds sent_ns = 0;   // its timestamp (RFC 7323)
  Nanoseconds echo_ns = -1;  // the timestamp that it answers; −1: none yet
  std::array<Range, kSackRanges> sacks = {};
  std::uint8_t sack_count = 0;
  std::uint8_t hop = 0;  // of its path, the next one
  bool is_ack = false;
  bool ends_write = false;    // PSH
  bool is_again = false;      // a retransmission
  bool is_duplicate = false;  // of an acknowledgement: DSACK (RFC 2883)
  bool is_marked = false;     // CE; of an acknowledgement: ECE (RFC 3168)
  bool has_cut = false;       // of data: CWR
};

// Kernel timers count jiffies (CONFIG_HZ=250, as Debian's kernel) and wait in a wheel whose slots are coarser
// the later they are; a timer is never early (kernel/time/timer.c, Linux 6.18). Host `phase_ns` is when its
// jiffies change.
constexpr Nanoseconds kJiffy = 4 * kMillisecond;

inline std::int64_t jiffies_at(Nanoseconds now, Nanoseconds phase_ns) {
  return (now + phase_ns) / kJiffy;
}

inline std::int64_t to_jiffies(Nanoseconds time) {
  return (time + kJiffy - 1) / kJiffy;
}

inline Nanoseconds wheel_expiry(Nanoseconds now, Nanoseconds wait, Nanoseconds phase_ns) {
  const std::int64_t expiry = jiffies_at(now, phase_ns) + to_jiffies(wait), left = to_jiffies(wait);
  int shift = 0;
  for (std::int64_t level = 63; left >= level; level *= 8) shift += 3;
  return (((expiry >> shift) + 1) << shift) * kJiffy - phase_ns;
}

}  // namespace longhaul::linux_tcp
