// Congestion control of one connection in fidelity `linux`, acknowledgement by acknowledgement: what Linux's
// modules decide. The sender (sender.h) keeps the state machine of recovery. Windows are whole segments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "net/linux/delivery_rate.h"
#include "net/linux/packet.h"

namespace longhaul::linux_tcp {

constexpr int kInfiniteThreshold = 0x7fffffff;
constexpr int kInitialWindow = 10;  // RFC 6928

// Whether the sender repairs losses, after acknowledgements told of them or after a time-out.
enum class Repair { kNone, kRecovery, kLoss };

// What a congestion control reads and sets of its sender.
struct WindowState {
  int window = kInitialWindow;  // snd_cwnd
  int counter = 0;              // acknowledged segments towards the next one of the window
  int threshold = kInfiniteThreshold;
  std::int32_t acknowledged = 0, next = 0;  // snd_una, snd_nxt
  bool is_paced = false;
  double pacing_rate = 0;  // sk_pacing_rate, bytes of payload a second
  // For a control that has_control(), when it is asked.
  int in_flight = 0;
  std::int64_t lost = 0;  // segments, ever
  Repair repair = Repair::kNone;
  Nanoseconds departure_ns = 0;  // earliest, of the next segment

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
  virtual void timed_out(const WindowState& state) = 0;
  // Data leave after `idle_jiffies` in which nothing was under way.
  virtual void restarted(std::int64_t idle_jiffies, std::int64_t jiffies) = 0;

  // Whether it sets window and pacing rate itself, for each acknowledgement (cong_control): then its sender
  // samples the delivery rate for it, neither grows nor reduces the window, keeps it after idling, and is
  // paced.
  virtual bool has_control() const { return false; }
  // How many windows the send buffer has room for (sndbuf_expand).
  virtual int buffered_windows() const { return 2; }
  virtual void acknowledged(WindowState&, const RateSample&, Nanoseconds /*now*/, std::int64_t /*jiffies*/) {}
  // A segment leaves while none is in flight.
  virtual void begins(WindowState&, Nanoseconds /*now*/, std::int64_t /*jiffies*/) {}
  // The loss that made it `before` was none.
  virtual int window_after_undo(const WindowState& state, int before) {
    return std::max(state.window, before);
  }
};

struct ControlFacts {
  std::string name;     // "cubic", "reno" or "bbr"
  int segment = 1448;   // bytes
  Nanoseconds rtt = 0;  // of the handshake
  std::uint64_t seed = 1;
  int connection = 0;  // draws of the seed differ by it
};

// `rate` must outlive it.
std::unique_ptr<CongestionControl> make_congestion_control(const ControlFacts& facts, WindowState& state,
                                                           DeliveryRate& rate);

}  // namespace longhaul::linux_tcp
