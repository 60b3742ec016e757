// The congestion window of one connection, in closed form: what TCP does round trip by round trip.
//
// Slow start doubles (RFC 5681 with byte counting, as Linux); CUBIC leaves it by HyStart when a window fills
// the pipe (Ha and Rhee 2011, acknowledgement train), on Linux half of it or where round trips become longer,
// after which it grows along the cubic from where it is (RFC 8312, W_max = the window at the exit, without
// loss at least 5 % and at most 50 % a round trip, as ns-3 and Linux bound it); Reno grows a segment a round
// trip and has no HyStart. A window that the application does not use does not grow (RFC 7661 as Linux has
// it).
//
// A congestion signal (a loss, an ECN mark) multiplies it by β: 0.7 for CUBIC, 1/2 for Reno. CUBIC goes on
// along W(t) = C (t − K)³ + W_max with K = cbrt((W_max − W) / C) in segments (RFC 8312, 4.1), concave up to
// W_max and convex beyond, with fast convergence (4.6) and at most 50 % a round trip; with `is_reno_friendly`
// (Linux; ns-3 3.37 has no such region) never below what Reno would have (4.2). The round trip of the repair
// does not grow it. Bytes of payload, seconds.
#pragma once

#include <limits>
#include <vector>

namespace longhaul {

struct WindowRules {
  double segment = 1448;
  double limit = 0;  // the sender's buffer; the congestion window itself may grow to twice what is in flight
  double rtt_s = 0;
  bool is_cubic = true;  // else Reno
  bool is_reno_friendly = false;
  double link = std::numeric_limits<double>::infinity();  // bytes a second, of the slowest link of the path
  bool slow_start_after_idle = true;                      // else a window outlives silence
  bool has_linux_windows = false;                         // else as ns-3 3.37 grows and halves them
};

class TcpWindow {
 public:
  explicit TcpWindow(const WindowRules& rules);

  // All that says how it goes on.
  void list_state(std::vector<double>& state) const {
    state.insert(state.end(), {window_, threshold_, epoch_s_, epoch_window_, largest_, k_s_, reduced_,
                               static_cast<double>(is_reducing_), least_rtt_s_, rules_.rtt_s, rules_.limit});
  }
  double bytes() const;  // what may be in flight: the congestion window within the limit
  bool is_at_limit() const { return window_ >= rules_.limit; }
  bool in_slow_start() const { return window_ < threshold_; }

  // `bytes` were acknowledged that had left at `rate` bytes a second; `peak_in_flight` is the most that was
  // under way in the round trip before.
  void acknowledged(double bytes, double peak_in_flight, double rate);
  // The connection has sent `sent` bytes at a steady `pipe` bytes a round trip, which the window did not
  // limit.
  void filled_pipe(double sent, double pipe);
  // Nothing was sent for `idle_s`: window_kept_after_idle(), at least the initial window; the threshold
  // stays. Whether that was long enough to start again with a smaller window.
  bool idled(double idle_s);
  // An acknowledgement came so long after what it acknowledges had left.
  void timed(double round_trip_s);
  // The path has another round trip, the sender another buffer.
  void follow_path(double rtt_s, double limit);

  // For connections that a signal may reach, whose window has to be known at every moment.

  // The connection has filled a pipe of `pipe` bytes for `elapsed_s` more, at `rate` bytes a second, `sent`
  // bytes in all since it did so without a pause.
  void flowed(double elapsed_s, double rate, double pipe, double sent);
  // Seconds of such sending until the congestion window is `level`, or less: until that can be said (ask
  // again then); infinite if never.
  double time_to(double level, double rate, double pipe, double sent) const;
  // The clock of the cubic's epoch goes on, whatever is acknowledged in that time.
  void passed(double elapsed_s);
  // A signal, noticed now. At most once a round trip: the caller's to hold to.
  void congested();
  // Nothing was sent since the latest mark was noticed. The first acknowledgement of new data ends the
  // reduction, at the threshold, even after idling (CWR, as ns-3 holds it).
  void hold_reduction() { is_reducing_ = true; }
  // A retransmission time-out: a window of one segment, slow start up to β of what it was.
  void timed_out();

 private:
  double growth_per_round() const;
  double initial() const;
  void begin_epoch_if_left();
  bool had_signal() const { return largest_ > 0; }
  double curve(double epoch_s) const;  // what the window is to be so long after a signal
  double friendly_slope() const;       // of Reno's window beside the cubic, bytes a second
  double beta() const { return rules_.is_cubic ? 0.7 : 0.5; }
  bool has_ack_train(double rate) const;
  // Bytes of a train of acknowledgements that ends slow start, in a pipe of `pipe` bytes; and those of
  // bursts.
  double hystart_train(double rate, double pipe) const;
  double until_hystart(double rate) const;
  void grow_in_slow_start(double bytes, double most, double until_exit);
  double largest_in_slow_start() const;

  WindowRules rules_;
  double window_;
  double threshold_ = std::numeric_limits<double>::infinity();
  double epoch_s_ = 0;       // time spent in congestion avoidance; negative in the round trip of a repair
  double epoch_window_ = 0;  // the window when it began; after a signal the cubic's origin
  double largest_ = 0;       // W_max of the latest signal; 0: none since the latest time-out
  double k_s_ = 0;           // K
  double reduced_ = 0;       // the window after the latest signal
  double least_rtt_s_ = std::numeric_limits<double>::infinity();  // of those that were timed
  bool is_reducing_ = false;
};

}  // namespace longhaul
