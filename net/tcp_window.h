// The congestion window of one connection without loss, in closed form: what TCP does round trip by round
// trip.
//
// Slow start doubles (RFC 5681 with byte counting, as Linux); CUBIC leaves it by HyStart when a window fills
// the pipe (Ha and Rhee 2011, acknowledgement train), after which it grows along the cubic from where it is
// (RFC 8312, W_max = the window at the exit, without loss at least 5 % and at most 50 % a round trip, as ns-3
// and Linux bound it); Reno grows a segment a round trip and has no HyStart. A window that the application
// does not use does not grow (RFC 7661 as Linux has it). Bytes of payload, seconds.
#pragma once

#include <limits>

namespace longhaul {

struct WindowRules {
  double segment = 1448;
  double limit = 0;  // the sender's buffer; the congestion window itself may grow to twice what is in flight
  double rtt_s = 0;
  bool is_cubic = true;  // else Reno
};

class TcpWindow {
 public:
  explicit TcpWindow(const WindowRules& rules);

  double bytes() const;  // what may be in flight: the congestion window within the limit
  bool in_slow_start() const { return window_ < threshold_; }

  // `bytes` were acknowledged; `peak_in_flight` is the most that was under way in the round trip before.
  void acknowledged(double bytes, double peak_in_flight);
  // The connection has sent `sent` bytes at a steady `pipe` bytes a round trip, which the window did not
  // limit.
  void filled_pipe(double sent, double pipe);
  // Nothing was sent for `idle_s`: window_kept_after_idle(), at least the initial window; the threshold
  // stays.
  void idled(double idle_s);
  // The path has another round trip, the sender another buffer.
  void follow_path(double rtt_s, double limit);

 private:
  double growth_per_round() const;
  double initial() const;
  void begin_epoch_if_left();

  WindowRules rules_;
  double window_;
  double threshold_ = std::numeric_limits<double>::infinity();
  double epoch_s_ = 0;       // time spent in congestion avoidance
  double epoch_window_ = 0;  // the window when it began
};

}  // namespace longhaul
