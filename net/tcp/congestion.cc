#include "net/tcp/congestion.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace longhaul {

CongestionReaction::CongestionReaction(double rtt_s, double timeout_s, std::unique_ptr<QueueSignals> queue,
                                       std::optional<RandomLosses> losses)
    : rtt_s_(rtt_s), timeout_s_(timeout_s), queue_(std::move(queue)), losses_(std::move(losses)) {}

void CongestionReaction::queue_above(double from_s, double until_s) {
  if (!queue_) return;
  notice_marks(from_s);
  if (above_until_s_ < from_s) queue_->below(from_s);
  queue_->above(from_s);
  above_until_s_ = until_s;
}

void CongestionReaction::queue_below(double now_s) {
  if (!queue_) return;
  notice_marks(now_s);
  queue_->below(now_s);
  above_until_s_ = -kNoSignal;
}

double CongestionReaction::next_mark_s() {
  if (!queue_ || reaction_s_ != kNoSignal) return kNoSignal;
  const double next = queue_->next_s(deaf_until_s_);
  return next <= above_until_s_ ? next : kNoSignal;
}

void CongestionReaction::notice_marks(double now_s) {
  const double marked_s = next_mark_s();
  if (marked_s > now_s) return;
  reaction_s_ = marked_s + rtt_s_;
  kind_ = queue_->drops() ? Kind::kLost : Kind::kMarked;
  if (queue_->drops()) repaired_s_ = std::max(repaired_s_, reaction_s_);
}

void CongestionReaction::sent(double bytes, double rate, double now_s, bool is_tail) {
  if (!losses_ || bytes <= 0) return;
  double left = bytes;
  while (left > 0) {
    const double step = std::min(left, losses_->bytes_to_next());
    left -= step;
    if (!losses_->sent(step)) continue;
    const double lost_s = now_s - left / rate, noticed_s = lost_s + (is_tail ? timeout_s_ : rtt_s_);
    repaired_s_ = std::max(repaired_s_, noticed_s);
    if (reaction_s_ != kNoSignal || lost_s < deaf_until_s_) continue;
    reaction_s_ = noticed_s;
    kind_ = is_tail ? Kind::kTimedOut : Kind::kLost;
  }
}

double CongestionReaction::next_s() {
  return reaction_s_ != kNoSignal ? reaction_s_ : next_mark_s() + rtt_s_;
}

CongestionReaction::Kind CongestionReaction::take(double now_s, double queued_s) {
  constexpr double kSameInstant = 1e-9;
  notice_marks(now_s);
  if (reaction_s_ > now_s + kSameInstant) return Kind::kNone;
  reaction_s_ = kNoSignal;
  deaf_until_s_ = now_s + queued_s;
  return kind_;
}

void CoDel::above(double since_s) {
  if (is_above_) return;
  if (is_signalling_) latest_next_s_ = next_s_;
  is_above_ = true;
  is_signalling_ = false;
  next_s_ = since_s + kInterval_s;
}

// A queue that stands again soon goes on about where it left off.
void CoDel::signal() {
  constexpr double kSoon_s = 16 * kInterval_s;
  const unsigned change = count_ - first_count_;
  if (is_signalling_) {
    ++count_;
    newton_step();
  } else if (change > 1 && next_s_ - latest_next_s_ < kSoon_s) {
    first_count_ = count_ = change;
    newton_step();
  } else {
    first_count_ = count_ = 1;
    inverse_root_ = 1;
  }
  is_signalling_ = true;
  next_s_ += kInterval_s * inverse_root_;
}

double CoDel::next_s(double from_s) {
  if (!is_above_) return kNoSignal;
  while (next_s_ < from_s) signal();
  return next_s_;
}

RandomLosses::RandomLosses(double probability, double segment, RandomStream stream)
    : probability_(probability), segment_(segment), stream_(std::move(stream)) {
  draw();
}

// Packets have no memory: what is left to the next loss is drawn anew.
void RandomLosses::set_probability(double probability) {
  if (probability == probability_) return;
  probability_ = probability;
  draw();
}

void RandomLosses::draw() {
  if (probability_ == 0) {
    to_next_ = kNoSignal;
    return;
  }
  const double packets = std::floor(std::log1p(-stream_.uniform()) / std::log1p(-probability_)) + 1;
  to_next_ = packets * segment_;
}

bool RandomLosses::sent(double bytes) {
  constexpr double kRounding = 1e-3;
  to_next_ -= bytes;
  if (to_next_ > kRounding) return false;
  draw();
  return true;
}

double path_loss(double probability, int links, const std::vector<double>& besides) {
  double log_kept = links * std::log1p(-probability);
  for (const double loss : besides) log_kept += std::log1p(-loss);
  return -std::expm1(log_kept);
}

}  // namespace longhaul
