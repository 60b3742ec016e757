// Congestion control of one connection in fidelity `linux`, acknowledgement by acknowledgement: what Linux's
// modules decide. The sender (sender.h) keeps the state machine of recovery. Windows are whole segments.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "net/linux/packet.h"

namespace longhaul::linux_tcp {

constexpr int kInfiniteThreshold = 0x7fffffff;
constexpr int kInitialWindow = 10;  // RFC 6928

// What a congestion control reads and sets of its sender.
struct WindowState {
  int window = kInitialWindow;  // snd_cwnd
  int counter = 0;              // acknowledged segments towards the next one of the window
  int threshold = kInfiniteThreshold;
  std::int32_t acknowledged = 0, next = 0;  // snd_una, snd_nxt
  bool is_paced = false;

  bool in_slow_start() const { return window < threshold; }
};

class CongestionControl {
 public:
  virtual ~CongestionControl() = default;

  // A round trip was measured of the latest segment that an acknowledgement covers.
  virtual void sample(WindowState& state, Nanoseconds rtt, Nanoseconds now, std::int64_t jiffies) = 0;
  // `count` segments were delivered while the window was used in full.
  virtual void grow(WindowState& state, int count, std::int64_t jiffies) = 0;
  // The threshold after a loss.
  virtual int threshold_after_loss(const WindowState& state) = 0;
  // A retransmission time-out.
  virtual void timed_out() = 0;
  // Data leave after `idle_jiffies` in which nothing was under way.
  virtual void restarted(std::int64_t idle_jiffies, std::int64_t jiffies) = 0;
};

// "cubic" or "reno".
std::unique_ptr<CongestionControl> make_congestion_control(const std::string& name);

}  // namespace longhaul::linux_tcp
