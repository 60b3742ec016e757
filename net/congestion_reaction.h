// When the sender of one connection reacts to what the network signals: a round trip after a packet left with
// a mark or was lost, and to one signal a round trip, because packets that were sent before a reaction say
// nothing about it (RFC 3168, RFC 6675).
//
// Everything lies lazily between two calls: signals are closed forms of the queue's level, so that a reaction
// costs one event. A lost packet that fewer than three others follow is noticed by the time-out (no tail loss
// probe). Seconds, bytes of payload.
#pragma once

#include <memory>
#include <optional>

#include "net/congestion_signals.h"
#include "net/random_losses.h"

namespace longhaul {

class CongestionReaction {
 public:
  enum class Kind { kNone, kCongested, kTimedOut };

  // `queue` may be null, `losses` absent.
  CongestionReaction(double rtt_s, double timeout_s, std::unique_ptr<QueueSignals> queue,
                     std::optional<RandomLosses> losses);

  // The connection's queue is above its watched level from `from_s` to `until_s`, unless another call says
  // otherwise.
  void queue_above(double from_s, double until_s);
  void queue_below(double now_s);
  double watched_level(double rate) const { return queue_ ? queue_->watched_level(rate) : kNoSignal; }

  // `bytes` were sent up to `now_s`, at `rate`; with fewer than three segments to follow if `is_tail`.
  void sent(double bytes, double rate, double now_s, bool is_tail);
  double bytes_to_loss() const { return losses_ ? losses_->bytes_to_next() : kNoSignal; }

  // When the sender reacts next, as far as that is known; kNoSignal if never.
  double next_s();
  // What it does up to `now_s`. Its own packets in the queue, for `queued_s` of sending, will still tell of
  // the time before.
  Kind take(double now_s, double queued_s);

  // When all packets lost so far have been sent again.
  double repaired_s() const { return repaired_s_; }

 private:
  void notice_marks(double now_s);
  double next_mark_s();

  double rtt_s_, timeout_s_;
  std::unique_ptr<QueueSignals> queue_;
  std::optional<RandomLosses> losses_;
  double above_until_s_ = -kNoSignal;
  double reaction_s_ = kNoSignal;  // of the signal that is on its way
  bool is_timeout_ = false;
  double deaf_until_s_ = 0;  // packets that leave earlier were sent before the latest reaction
  double repaired_s_ = 0;
};

}  // namespace longhaul
