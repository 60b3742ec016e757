// What a FIFO does to a sender that goes in rounds: a burst, its acknowledgements, the next burst.
//
// Three things that a queue which serves everybody in turn adds to TCP's self-clocking:
//   1. Acknowledgements wait behind the receiver's own data and then come at once (ack compression; Zhang,
//      Shenker, Clark 1991). With both directions busy a round takes W/C + RTT/2 instead of max(RTT, W/C), so
//      that a link idles RTT/2 a round whatever the queue holds.
//   2. The queue overflows. Its highest level in a round is what acknowledgements that come at once release,
//      and what the others release beyond what they took: W − C RTT/2 with both directions busy, W − C RTT
//      with one; in slow start half the burst. What does not fit is lost and noticed a round later.
//   3. After a loss the sender sends again what is missing, with the smaller window. If that overflows again,
//      only the retransmission time-out notices (a lost repetition gives no duplicate acknowledgement).
//
// No constant is fitted (docs/reference/fifo.md). Bytes of payload; seconds; rates in bytes a second.
#pragma once

#include <deque>

namespace longhaul {

class FifoRounds {
 public:
  // What acknowledgements do to the sender.
  struct Reaction {
    enum class Kind {
      kNone,
      kCongested,  // a loss is noticed: less window, and `resend` to be sent again
      kStalled,    // until the time-out only what the sender's buffer takes behind `span`
      kTimedOut,   // a window of one segment, and `resend`
    } kind = Kind::kNone;
    double acknowledged = 0;  // that the window grows by; bytes
    double used = 0;          // of the window, in the round trip before
    double bytes = 0;         // that came through and are no longer in flight
    double compressed = 0;    // of them, acknowledged at one moment
    double resend = 0;
    double span = 0;  // sent behind the first byte that only the time-out brings again, when it stalls
  };

  FifoRounds(double rtt_s, double timeout_s) : rtt_s_(rtt_s), timeout_s_(timeout_s) {}

  // `credit` may be sent without an acknowledgement, by a sender that begins now.
  void start(double credit, double rate, double now_s);
  // The acknowledgements of `reaction` release `credit`; at `rate`, but for what they release at once.
  void released(const Reaction& reaction, double credit, double rate, double now_s);

  // The highest level of the queue by a burst of `bytes`.
  double highest(double bytes, double rate) const;
  // That burst, from `begin_s`, is sent, and the queue has `room` for it. Its first acknowledgement waits for
  // `wait_s` at the receiver. Returns what is lost.
  double sent(double bytes, double begin_s, double rate, double wait_s, double room);

  bool is_waiting() const { return !bursts_.empty(); }
  double next_s() const { return bursts_.front().acknowledged_s; }
  // The acknowledgements of next_s(). `can_send`: whether the sender has data besides what was lost.
  Reaction take(double rate, bool can_send);

  // Lost, and not yet given back by a reaction.
  bool is_missing_some() const { return missing_ > 0; }
  // Acknowledgements still to come, bytes.
  double outstanding() const;

 private:
  struct Burst {
    double acknowledged_s = 0;
    double bytes = 0;       // that came through
    double compressed = 0;  // of them, acknowledged at that moment
    double lost = 0;
    double before_loss = 0;  // that came through before the first loss
    bool is_tail = false;    // lost in one piece, at the burst's end
    bool is_noticeable = true;
    bool is_timeout = false;
  };

  double surplus() const { return growth_ > 1 ? 1 - 1 / growth_ : 0; }
  Reaction notice(const Burst& burst, double rate, Reaction reaction);
  Reaction stall(double from_s, Reaction reaction);
  Reaction time_out();
  double give_back();
  double repeated(double acknowledged);

  double rtt_s_, timeout_s_;
  std::deque<Burst> bursts_;
  double immediate_ = 0;        // of the credit, what may be sent at once
  double growth_ = 1;           // what acknowledgements release over what they acknowledge
  double clocked_until_s_ = 0;  // so long they keep coming
  double missing_ = 0;          // lost and not given back
  double lost_ = 0;             // of that, in bursts whose acknowledgements have come
  bool is_tail_ = false;        // of the latest loss
  bool is_late_ = false;        // it will be noticed with the next acknowledgements
  bool is_stalled_ = false;     // until the time-out, which is the last of the bursts then
  bool is_repairing_ = false;   // the burst at hand is the first after a loss was noticed
  double delivered_ = 0;        // of the burst that noticed it or tried to repair it
  double to_repeat_ = 0;        // after a time-out, and what an acknowledgement of it covers besides
  double covered_ = 1;
};

}  // namespace longhaul
