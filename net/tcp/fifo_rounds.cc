#include "net/tcp/fifo_rounds.h"

#include <algorithm>

namespace longhaul {

void FifoRounds::start(double credit, double rate, double now_s) {
  immediate_ = std::max(0., credit - rate * std::max(0., clocked_until_s_ - now_s));
  growth_ = 1;
}

// After the loss of a burst's tail the network holds only what was sent since: the sender repeats at once as
// much as the window has room for.
void FifoRounds::released(const Reaction& reaction, double credit, double rate, double now_s) {
  if (reaction.kind == Reaction::Kind::kStalled) return;
  if (reaction.kind == Reaction::Kind::kTimedOut) return start(credit, rate, now_s);
  clocked_until_s_ = now_s + (reaction.bytes - reaction.compressed) / rate;
  if (reaction.kind == Reaction::Kind::kCongested) {
    growth_ = 1;
    immediate_ = reaction.compressed > 0 ? std::max(0., credit - (reaction.bytes - reaction.compressed)) : 0;
    if (is_tail_) immediate_ = std::max(immediate_, std::min(credit - reaction.bytes, reaction.resend));
    return;
  }
  growth_ = reaction.bytes > 0 ? credit / reaction.bytes : 1;
  immediate_ += growth_ * reaction.compressed;
}

double FifoRounds::highest(double bytes, double rate) const {
  const double at_once = std::min(bytes, immediate_), clocked = bytes - at_once;
  const double standing = std::max(0., clocked * (1 - surplus()) - rate * rtt_s_);
  return at_once + clocked * surplus() + standing;
}

double FifoRounds::sent(double bytes, double begin_s, double rate, double wait_s, double room) {
  const double at_once = std::min(bytes, immediate_), level = highest(bytes, rate);
  Burst burst;
  burst.acknowledged_s = begin_s + rtt_s_ + wait_s;
  burst.lost = std::clamp(level - room, 0., bytes);
  burst.bytes = bytes - burst.lost;
  burst.compressed = std::min(burst.bytes, rate * wait_s);
  if (burst.lost > 0) {
    burst.is_tail = at_once > room;
    burst.is_noticeable = !burst.is_tail || at_once < bytes;
    const double standing = level - at_once - (bytes - at_once) * surplus();
    const double filling = surplus() > 0 ? std::max(0., room - standing - at_once) / surplus() : 0;
    burst.before_loss = std::min(burst.bytes, burst.is_tail ? room : at_once + filling);
  } else {
    is_repairing_ = false;
  }
  immediate_ = 0;
  missing_ += burst.lost;
  bursts_.push_back(burst);
  return burst.lost;
}

double FifoRounds::outstanding() const {
  double bytes = 0;
  for (const Burst& burst : bursts_) bytes += burst.bytes;
  return bytes;
}

// After a time-out, holes are filled in between what had come through: each acknowledgement of a repetition
// covers that as well, and the window grows by all of it.
double FifoRounds::repeated(double acknowledged) {
  const double repeated = std::min(to_repeat_, acknowledged);
  to_repeat_ -= repeated;
  return repeated * covered_;
}

FifoRounds::Reaction FifoRounds::take(double rate, bool can_send) {
  const Burst burst = bursts_.front();
  bursts_.pop_front();
  if (burst.is_timeout) return time_out();
  lost_ += burst.lost;
  Reaction reaction;
  reaction.bytes = burst.bytes;
  reaction.compressed = burst.compressed;
  if (!is_late_) reaction.acknowledged = burst.lost > 0 ? burst.before_loss : burst.bytes;
  reaction.used = repeated(reaction.acknowledged);
  reaction.acknowledged += reaction.used;
  if (burst.lost > 0) is_tail_ = burst.is_tail;
  if (is_stalled_ || is_late_ || (burst.lost > 0 && burst.is_noticeable))
    return notice(burst, rate, reaction);
  if (burst.lost == 0) return reaction;
  is_late_ = true;
  delivered_ = burst.bytes;
  if (!can_send && bursts_.empty()) return stall(burst.acknowledged_s + burst.bytes / rate, reaction);
  return reaction;
}

FifoRounds::Reaction FifoRounds::notice(const Burst& burst, double rate, Reaction reaction) {
  delivered_ = burst.bytes;
  if (is_repairing_ && !is_stalled_) reaction.span = burst.bytes + burst.lost - burst.before_loss;
  if (is_repairing_ || is_stalled_) return stall(burst.acknowledged_s + burst.bytes / rate, reaction);
  reaction.kind = Reaction::Kind::kCongested;
  reaction.resend = give_back();
  is_late_ = false;
  is_repairing_ = true;
  return reaction;
}

double FifoRounds::give_back() {
  const double lost = lost_;
  lost_ = 0;
  missing_ = std::max(0., missing_ - lost);
  if (bursts_.empty()) missing_ = 0;
  return lost;
}

FifoRounds::Reaction FifoRounds::stall(double from_s, Reaction reaction) {
  if (!is_stalled_) bursts_.emplace_back();
  is_stalled_ = bursts_.back().is_timeout = true;
  bursts_.back().acknowledged_s = from_s + timeout_s_;
  reaction.kind = Reaction::Kind::kStalled;
  return reaction;
}

FifoRounds::Reaction FifoRounds::time_out() {
  Reaction reaction;
  reaction.kind = Reaction::Kind::kTimedOut;
  covered_ = lost_ > 0 ? delivered_ / lost_ : 0;
  reaction.resend = to_repeat_ = give_back();
  is_late_ = is_repairing_ = is_stalled_ = false;
  return reaction;
}

}  // namespace longhaul
