// What travels in fidelity `linux`: a segment of data or an acknowledgement, and when timers of the kernel
// fire. Segments are numbered on their connection from 0; a message is a fixed number of them, the last one
// short. Times are nanoseconds of simulated time.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "net/tcp/framing.h"

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

constexpr int kMostHops = 127;
constexpr int kSackRanges = 3;  // that fit beside timestamps (RFC 2018)

// 64 bytes, a line of the cache: what is under way is most of a simulation's memory.
struct Packet {
  Nanoseconds arrival_ns = 0;  // at the end of the wire that it is on
  Nanoseconds sent_ns = 0;     // its timestamp (RFC 7323)
  Nanoseconds echo_ns = -1;    // the timestamp that it answers; −1: none yet
  std::int32_t connection = 0;
  std::int32_t number = 0;  // of data: the segment; of an acknowledgement: the next one expected
  std::int32_t edge = 0;  // of an acknowledgement: the first segment that the receive window has no room for
  std::uint16_t payload = 0;  // bytes of it, or of an acknowledgement's SACK option
  std::uint8_t hop : 7;       // of its path, the next one
  bool may_complete : 1;      // its arrival may complete a message: it ends it, or fills a hole
  std::uint8_t sack_count : 2;
  bool is_ack : 1;
  bool ends_write : 1;    // PSH
  bool is_again : 1;      // a retransmission
  bool is_duplicate : 1;  // of an acknowledgement: DSACK (RFC 2883)
  bool is_marked : 1;     // CE; of an acknowledgement: ECE (RFC 3168)
  bool has_cut : 1;       // of data: CWR
  std::array<Range, kSackRanges> sacks = {};

  Packet()
      : hop(0),
        may_complete(false),
        sack_count(0),
        is_ack(false),
        ends_write(false),
        is_again(false),
        is_duplicate(false),
        is_marked(false),
        has_cut(false) {}
  // On the wire, Ethernet's framing included.
  std::int32_t bytes() const { return payload + kHeaderBytes; }
};
static_assert(sizeof(Packet) == 64);

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
