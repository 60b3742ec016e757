// BBR version 1 of one connection as Linux 6 has it (net/ipv4/tcp_bbr.c; Cardwell et al., "BBR:
// Congestion-Based Congestion Control", ACM Queue 14(5), 2016): the sender paces at a multiple of the
// bandwidth that it has seen, whatever is lost.
//
// Start-up is followed in pieces, whose acknowledgements give a sample of the delivery rate each, as the
// kernel takes them: pacing at 2.885 times the largest, and a window that grows by what is acknowledged.
// Three round trips that the application did not limit and that did not bring a quarter more end it. Its
// queue is the sender's own, which TCP small queues keep short: the drain is over at once.
//
// Behind it the window never limits, and the rate is the fair share or the pacing rate, whichever is less.
// The phase of gain 1.25 lasts until its data is in flight: for ever where the share is less than that, else
// a round trip, which brings the bandwidth up; one of 0.75 and six of 1 follow. Bandwidth and round trip are
// remembered while nothing is sent, so that a connection goes on at once after idling: at gain 1 until the
// first acknowledgement, which ends a phase other than that of 1.25.
//
// The round trip is known for 10 s, from the handshake on: later packets are longer, and seldom as quick.
// Then the first of a transfer that begins after idling shows it anew. If one is under way, it is looked for:
// four segments a round trip, for a round trip and 200 ms. Bytes of payload, seconds.
#pragma once

#include <deque>
#include <limits>

namespace longhaul {

class Bbr {
 public:
  Bbr(double segment, double rtt_s);

  // The sender has something to send again.
  void begin(double now_s);
  // `bytes` more were sent up to `now_s`, at `rate`; acknowledgements came.
  void advance(double bytes, double rate, double now_s);
  void follow_path(double rtt_s);

  double pacing() const;  // the largest rate
  double credit() const;  // that may leave before an acknowledgement comes
  // From `now_s` until it has to be advanced, if the sender gets `rate`.
  double wait_s(double rate, double now_s) const;

  bool is_starting() const { return is_starting_; }
  double bandwidth() const { return bandwidth_; }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  // Sent without a pause; what the sender knew at its end. It is acknowledged as a whole, when its middle is.
  struct Piece {
    double begin_s = 0, bytes = 0, acknowledged_s = 0, end_acknowledged_s = 0;
    double delivered = 0, delivered_s = 0;
    bool is_app_limited = false;
  };

  void end_probe(double now_s);
  void end_piece(double end_s);
  void start(double bytes, double rate, double now_s);
  void take_acknowledgements(double now_s);
  void acknowledge(const Piece& piece);
  void count_rounds(const Piece& piece);
  void sample(double rate);
  void cycle(double bytes, double rate, double now_s);
  bool is_paced(double rate) const;
  double gain() const;

  double segment_, rtt_s_;
  double bandwidth_ = 0, pacing_;
  double rounds_ = 0, bandwidth_round_ = 0;  // round trips of sending; the one of the largest sample
  double last_sent_s_ = -kNever;
  double path_seen_s_ = 0;       // empty
  double probing_until_s_ = -1;  // the round trip; negative: no

  bool is_starting_ = true;
  Piece piece_;  // being sent
  std::deque<Piece> under_way_;
  double window_, in_flight_ = 0, sent_ = 0;
  double delivered_ = 0, delivered_s_ = 0;
  double app_limited_until_ = 0;  // delivered
  double next_round_ = 0;         // delivered
  double full_bandwidth_ = 0;
  int full_rounds_ = 0;

  int phase_ = 0;
  double phase_began_s_ = 0;
  double sending_since_s_ = 0;  // without a pause
  bool is_restarting_ = false;  // nothing acknowledged since it idled
};

}  // namespace longhaul
