// One sender's connections to one receiver in the flow fidelity: the queue of transfers, and TCP's
// self-clocking.
//
// While the window is smaller than what the path holds at the fair share, data goes out in bursts: each
// burst's acknowledgements come one round trip after it began and release it again, plus what the window
// grew. Once the window covers share × RTT the channel is plain fluid, and nothing happens until the share
// changes. k connections share a transfer evenly, so that one window times k stands for all.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "net/connection.h"
#include "net/tcp_window.h"
#include "sim/network/short_queue.h"

namespace longhaul {

class FlowChannel {
 public:
  struct Rules {
    int connections = 1;
    double segment = 1448;
    bool is_cubic = true;
  };
  struct Transfer {
    std::int64_t bytes = 0;
    std::function<void()> on_arrival;
  };

  FlowChannel(ConnectionFacts facts, const Rules& rules);

  const ConnectionFacts& facts() const { return facts_; }
  int connections() const { return rules_.connections; }
  // The rate that the largest window allows, bytes of payload a second.
  double rate_limit() const;

  // Takes a transfer; the channel may send from `now` on.
  void push(Transfer transfer, double now);
  bool has_data() const { return !queue_.empty(); }
  // Whether data may go out now. If not, acknowledgements release some at release_s().
  bool may_send() const { return is_fluid_ || credit_ > nothing(); }
  double release_s() const { return bursts_.front().acknowledged_s; }

  // The path's links have other rates or delays from now on; what was sent is advance()d before. Its links
  // stay.
  void follow_path(const ConnectionFacts& present);
  // The fair share from `now` on, bytes of payload a second.
  void set_rate(double rate, double now);
  // Seconds until the transfer ends or the credit is used up, at the present rate.
  double next_change_s() const;
  // Accounts for what was sent since the last call, and for acknowledgements that came.
  void advance(double now);
  // The first transfer, taken out of the queue, if its last byte has been sent.
  bool is_first_sent() const { return remaining_ <= nothing(); }
  Transfer pop(double now);

 private:
  struct Burst {
    double acknowledged_s = 0, bytes = 0;
  };
  // Fewer bytes than this are rounding: events are on whole nanoseconds.
  double nothing() const { return 1e-3 + 2e-9 * rate_; }

  double window() const { return window_.bytes() * rules_.connections; }
  void start(double now);
  void end_burst();
  void leave_fluid(double now);
  void enter_fluid();
  void take_acknowledgements(double now);

  ConnectionFacts facts_;
  Rules rules_;
  TcpWindow window_;
  ShortQueue<Transfer> queue_;
  double remaining_ = 0;  // of the first transfer
  double rate_ = 0;
  double updated_s_ = 0;
  double last_sent_s_ = 0;
  bool is_fluid_ = false;
  double sent_in_fluid_ = 0;
  double credit_ = 0;                           // that may be sent before an acknowledgement comes
  double burst_begin_s_ = 0, burst_bytes_ = 0;  // the burst being sent
  ShortQueue<Burst> bursts_;
  double in_flight_ = 0, peak_in_flight_ = 0;
};

}  // namespace longhaul
