// TCP's self-clocking of a channel (flow_channel.h) while its window is smaller than what the path holds: a
// burst's acknowledgements come one round trip after it began, and release it again. Bytes of payload,
// seconds.
#pragma once

#include <vector>

#include "replay/flow/containers.h"

namespace longhaul {

struct AckClock {
  struct Burst {
    double acknowledged_s = 0;
    double bytes = 0;
    bool is_limited = false;
    double rtt_s = 0;  // that its acknowledgements measure; 0: of data that left before what is known
  };

  bool is_idle() const { return under_way.empty() && bytes == 0; }

  // Of the burst at hand, at `rate` up to now.
  void send(double sent, double rate, double now);
  void end_burst(double rtt_s);

  // The first burst under way is acknowledged: its bytes, which may be sent again. Fewer than `nothing` are
  // rounding.
  double acknowledge(double nothing);
  void clear();

  // A window of `window` bytes goes on with so many of them in flight, whose acknowledgements come evenly
  // over the next `spread_s`; 0: now.
  void go_on(double window, double flying, double now, double spread_s);

  // All times are `by_s` less from now on.
  void rebase_time(double by_s);

  // Appends all that it keeps.
  void list_state(std::vector<double>& state) const;

  double credit = 0;  // that may be sent before an acknowledgement comes

  // The burst being sent. Limited: by the window, at its end or before acknowledgements released it, as Linux
  // has it (tcp_cwnd_validate, is_cwnd_limited).
  double begin_s = 0;
  double bytes = 0;
  bool is_limited = false;

  ShortQueue<Burst> under_way;
  double in_flight = 0;

  // The most in flight at an acknowledgement of the present round trip, and what of the data that was under
  // way at its beginning has not been acknowledged: the next one begins with later data, as Linux has it
  // (tcp_cwnd_validate, cwnd_usage_seq). Bursts that overlap on one connection share a round trip.
  double peak_in_flight = 0;
  double round_left = 0;

  double released = 0;  // bytes whose acknowledgements, one by one, release the burst being sent
};

}  // namespace longhaul
