// What a network signals to the sender of one connection, and how the sender reacts: CoDel's marks and drops,
// random loss, and the cut of the window.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "core/base/random.h"

namespace longhaul {

// Random loss on a path: which byte of a connection is the next to be lost. Packets are lost independently
// (as ns-3's RateErrorModel), so the number of packets up to the next loss is geometric.
class RandomLosses {
 public:
  // `probability`: of a packet, on the whole path. The stream is the connection's own.
  RandomLosses(double probability, double segment, RandomStream stream);

  // From now on another one; 0: none is lost.
  void set_probability(double probability);
  double bytes_to_next() const { return to_next_; }
  double segment() const { return segment_; }
  // `bytes` more were sent, at most bytes_to_next(); draws the next loss once the present one is reached.
  bool sent(double bytes);

 private:
  void draw();

  double probability_, segment_;
  RandomStream stream_;
  double to_next_ = 0;
};

// Of one packet over `links` links that lose each with `probability`, and over others that lose with these
// besides.
double path_loss(double probability, int links, const std::vector<double>& besides = {});

// Times are seconds since the simulation's zero, levels and lengths bytes of payload.
constexpr double kNoSignal = std::numeric_limits<double>::infinity();

// CoDel (RFC 8289) on a connection's own queue at its bottleneck: it marks or drops the packet that leaves
// once packets have waited longer than the target for a whole interval, and again interval / sqrt(count)
// after each signal until the wait is short again. Target and interval are those of fq_codel (RFC 8290): 5 ms
// and 100 ms.
//
// The queue is watched by its level, so that its next signal while the level stays above is a closed form,
// without looking at packets.
class CoDel {
 public:
  static constexpr double kTarget_s = 0.005, kInterval_s = 0.1;

  // `marks`: packets are just marked; else dropped, and sent again.
  explicit CoDel(bool marks) : marks_(marks) {}

  // The level above which the queue takes notice while it drains at `rate`, bytes a second.
  double watched_level(double rate) const { return rate * kTarget_s; }
  // The level is above the watched one since `since_s` (may lie in the near future), or no longer. Repeated
  // calls that change nothing are harmless.
  void above(double since_s);
  void below() { is_above_ = false; }
  // When the first packet at or after `from_s` leaves with a signal, if the level stays above; kNoSignal if
  // none will. Signals before it are gone after this call.
  double next_s(double from_s);
  bool drops() const { return !marks_; }

 private:
  void signal();
  void newton_step() { inverse_root_ *= (3 - count_ * inverse_root_ * inverse_root_) / 2; }

  bool marks_;
  bool is_above_ = false;
  bool is_signalling_ = false;  // the first signal of this stay above the target has come
  double next_s_ = kNoSignal;
  double latest_next_s_ = -kNoSignal;  // when the stay before would have signalled next
  double inverse_root_ = 1;            // of count; one Newton step a signal, as in the RFC's appendix
  unsigned count_ = 0, first_count_ = 0;
};

// When the sender of one connection reacts to what the network signals: a round trip after a packet left with
// a mark or was known to be lost, and to one signal a round trip, because packets that were sent before a
// reaction say nothing about it (RFC 3168, RFC 6675).
//
// A lost packet is known by what follows it on the connection, whichever message that belongs to: by the
// third segment behind it (RFC 6675), or with RACK (RFC 8985) by the first, a quarter of a round trip late.
// Where nothing follows it is sent again by the timer, which the acknowledgement of the data before it set: a
// time-out, or with TLP a probe after the same time, since one segment alone is under way. A repair may be
// lost too. The losses behind one that is sent again are a round trip later (NewReno's partial
// acknowledgement).
//
// Everything lies lazily between two calls: signals are closed forms of the queue's level, so that a reaction
// costs one event. Seconds, bytes of payload.
class CongestionReaction {
 public:
  enum class Kind { kNone, kMarked, kLost, kTimedOut };

  // `has_rack`: and TLP.
  CongestionReaction(double rtt_s, double timeout_s, std::optional<CoDel> queue,
                     std::optional<RandomLosses> losses, bool has_rack = false);

  // The connection's queue is above its watched level from `from_s` to `until_s`, unless another call says
  // otherwise.
  void queue_above(double from_s, double until_s);
  void queue_below(double now_s);
  double watched_level(double rate) const { return queue_ ? queue_->watched_level(rate) : kNoSignal; }

  // `bytes` were sent up to `now_s`, at `rate`.
  void sent(double bytes, double rate, double now_s);
  void set_loss(double probability) { losses_->set_probability(probability); }
  // That may be sent before one is lost, or before more is known of one that is.
  double bytes_to_loss() const;

  // When the sender reacts next, as far as that is known; kNoSignal if never.
  double next_s();
  // What it does up to `now_s`. Its own packets in the queue, for `queued_s` of sending, will still tell of
  // the time before.
  Kind take(double now_s, double queued_s);

  // Packets lost so far, and how many of them, from the first on, have been sent again.
  int lost() const { return lost_; }
  int repaired() const { return open_.empty() ? lost_ : open_.front().number; }

 private:
  // A packet that has not been sent again. Numbers ascend.
  struct Loss {
    int number = 0;
    double lost_s = 0, repair_s = 0;  // the second as far as that is known
    Kind kind = Kind::kLost;          // of the reaction
    double followed = 0;              // bytes sent behind it
  };

  void notice_marks(double now_s);
  double next_mark_s();
  double to_follow(const Loss& loss) const;
  void follow(double bytes, double now_s);
  void lose(double now_s, double before_s);
  void repair(std::size_t index);

  double rtt_s_, timeout_s_;
  bool has_rack_;
  std::optional<CoDel> queue_;
  std::optional<RandomLosses> losses_;
  std::vector<Loss> open_;
  int lost_ = 0;
  double sent_s_ = -kNoSignal;  // the latest byte
  double above_until_s_ = -kNoSignal;
  double reaction_s_ = kNoSignal;  // of the mark that is on its way
  double deaf_until_s_ = 0;        // packets that leave earlier were sent before the latest reaction
};

}  // namespace longhaul
