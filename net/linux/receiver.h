// The receiving end of one connection in fidelity `linux`: what it acknowledges when, and the window that it
// offers (net/ipv4/tcp_input.c, tcp_output.c, tcp_timer.c of Linux 6.18, in our words).
//
// It acknowledges every second full segment, a lone one after 40 ms; at once the first sixteen of a
// connection and those after a long silence, each one that lets the window grow, the end of a write once it
// was read, what fills a hole, and what comes out of order: three at once, then at most one a millisecond or
// 5 % of the round trip. The window grows by two segments a segment up to a bound that follows what was read
// in the last round trip. The application reads everything at once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "net/linux/packet.h"

namespace longhaul::linux_tcp {

class AckOutput {
 public:
  virtual ~AckOutput() = default;
  virtual void acknowledge(Packet& ack, Nanoseconds now) = 0;
};

class Receiver {
 public:
  // `rtt`: measured when the connection was made. `window_limit`: bytes that the receive buffer allows.
  Receiver(int segment, Nanoseconds rtt, Nanoseconds phase_ns, std::int64_t window_limit, AckOutput& output);

  void arrived(const Packet& data, Nanoseconds now);
  Nanoseconds timer_ns() const { return delayed_ns_ < compressed_ns_ ? delayed_ns_ : compressed_ns_; }
  void timer_fired(Nanoseconds now);

  std::int32_t next() const { return next_; }  // everything below it has arrived

 private:
  void take_in_order(const Packet& data, Nanoseconds now);
  void take_out_of_order(std::int32_t number, Nanoseconds now);
  void measure_round_trip(const Packet& data, Nanoseconds now);
  void follow_reader(Nanoseconds now);
  void note_arrival(Nanoseconds now);
  void quicken(int most);
  void grow_window();
  void acknowledge(Nanoseconds now);
  void decide(Nanoseconds now);
  void delay(Nanoseconds now);
  void compress(Nanoseconds now);

  int segment_;
  Nanoseconds phase_ns_;
  std::int64_t window_limit_;
  AckOutput& output_;

  std::int32_t next_ = 0, acknowledged_ = 0;
  std::vector<Range> ahead_;  // out of order, the latest to grow first
  std::int32_t edge_ = kInitialReceiveWindow;
  std::int64_t window_, bound_;  // bytes: what is offered, and up to where that grows

  int quick_ = 0;  // so many acknowledgements at once
  bool echoes_mark_ = false;  // until the sender says that it has cut its window
  bool is_due_ = false, is_duplicate_ = false, ends_write_ = false, has_begun_ = false;
  Nanoseconds delay_ = 0, last_ns_ = 0, delayed_ns_ = kNever;
  // Acknowledgements of what is out of order.
  int at_once_ = 0, held_ = 0;
  std::int32_t held_next_ = -1;
  Nanoseconds compressed_ns_ = kNever;

  Nanoseconds rtt_, first_rtt_, echo_ns_ = -1, last_echo_ns_ = -1;
  // What was read since `read_ns_`, and in the round trip before.
  std::int32_t read_from_ = 0;
  std::int64_t read_bytes_;
  Nanoseconds read_ns_ = 0;
};

}  // namespace longhaul::linux_tcp
