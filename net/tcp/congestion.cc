#include "net/tcp/congestion.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace longhaul {
namespace {

constexpr double kRounding = 1e-3;  // bytes

}  // namespace

CongestionReaction::CongestionReaction(double rtt_s, double timeout_s, std::optional<CoDel> queue,
                                       std::optional<RandomLosses> losses, bool has_rack)
    : rtt_s_(rtt_s), timeout_s_(timeout_s), has_rack_(has_rack), queue_(queue), losses_(std::move(losses)) {}

void CongestionReaction::queue_above(double from_s, double until_s) {
  if (!queue_) return;
  notice_marks(from_s);
  if (above_until_s_ < from_s) queue_->below();
  queue_->above(from_s);
  above_until_s_ = until_s;
}

void CongestionReaction::queue_below(double now_s) {
  if (!queue_) return;
  notice_marks(now_s);
  queue_->below();
  above_until_s_ = -kNoSignal;
}

double CongestionReaction::next_mark_s() {
  if (!queue_ || reaction_s_ != kNoSignal) return kNoSignal;
  const double next = queue_->next_s(deaf_until_s_);
  return next <= above_until_s_ ? next : kNoSignal;
}

// A packet that the queue drops is repaired when the sender reacts, by a reaction of its own.
void CongestionReaction::notice_marks(double now_s) {
  const double marked_s = next_mark_s();
  if (marked_s > now_s) return;
  reaction_s_ = marked_s + rtt_s_;
  if (queue_->drops()) open_.push_back({lost_++, -kNoSignal, reaction_s_, Kind::kLost, kNoSignal});
}

// Bytes until more is known of when it is noticed.
double CongestionReaction::to_follow(const Loss& loss) const {
  constexpr double kSegmentsToNotice = 3;
  const double first = losses_->segment();
  if (has_rack_ && loss.followed < first - kRounding) return first - loss.followed;
  const double last = kSegmentsToNotice * first;
  return loss.followed < last - kRounding ? last - loss.followed : kNoSignal;
}

double CongestionReaction::bytes_to_loss() const {
  if (!losses_) return kNoSignal;
  double bytes = losses_->bytes_to_next();
  for (const Loss& loss : open_) bytes = std::min(bytes, to_follow(loss));
  return bytes;
}

void CongestionReaction::follow(double bytes, double now_s) {
  constexpr double kReorderingWindow = 0.25;  // of a round trip
  for (Loss& loss : open_) {
    const bool is_told = to_follow(loss) <= bytes + kRounding;
    loss.followed += bytes;
    if (!is_told) continue;
    const bool is_last = to_follow(loss) == kNoSignal;
    const double told_s = is_last ? now_s : std::max(now_s, loss.lost_s + kReorderingWindow * rtt_s_);
    if (told_s + rtt_s_ >= loss.repair_s) continue;
    loss.repair_s = told_s + rtt_s_;
    loss.kind = Kind::kLost;
  }
}

void CongestionReaction::lose(double now_s, double before_s) {
  const double timer_s = std::max(before_s + rtt_s_, now_s);
  open_.push_back({lost_++, now_s, timer_s + timeout_s_, has_rack_ ? Kind::kLost : Kind::kTimedOut, 0});
}

void CongestionReaction::sent(double bytes, double rate, double now_s) {
  if (!losses_ || bytes <= 0) return;
  double left = bytes;
  while (left > 0) {
    const double step = std::min(left, bytes_to_loss());
    left -= step;
    const double step_s = now_s - left / rate;
    const bool is_first = step <= losses_->segment() + kRounding, is_lost = losses_->sent(step);
    follow(is_lost ? std::max(0., step - losses_->segment()) : step, step_s);
    if (is_lost) lose(step_s, is_first ? sent_s_ : step_s);
    sent_s_ = step_s;
  }
}

double CongestionReaction::next_s() {
  double next = reaction_s_ != kNoSignal ? reaction_s_ : next_mark_s() + rtt_s_;
  for (const Loss& loss : open_) next = std::min(next, loss.repair_s);
  return next;
}

// Sends a packet again. If that is lost too, what is sent from now on tells of it only with RACK.
void CongestionReaction::repair(std::size_t index) {
  const double repair_s = open_[index].repair_s;
  for (Loss& other : open_) {
    if (other.repair_s <= repair_s + rtt_s_) continue;
    other.repair_s = repair_s + rtt_s_;
    other.kind = Kind::kLost;
  }
  if (losses_ && losses_->sent(losses_->segment())) {
    Loss& again = open_[index];
    again.repair_s = repair_s + timeout_s_;
    again.kind = has_rack_ ? Kind::kLost : Kind::kTimedOut;
    again.followed = has_rack_ ? 0 : kNoSignal;
    return;
  }
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(index));
}

CongestionReaction::Kind CongestionReaction::take(double now_s, double queued_s) {
  constexpr double kSameInstant = 1e-9;
  notice_marks(now_s);
  if (reaction_s_ <= now_s + kSameInstant) {
    reaction_s_ = kNoSignal;
    deaf_until_s_ = now_s + queued_s;
    return queue_->drops() ? Kind::kLost : Kind::kMarked;
  }
  for (std::size_t i = 0; i < open_.size();) {
    const Loss loss = open_[i];
    if (loss.repair_s > now_s + kSameInstant) {
      ++i;
      continue;
    }
    repair(i);
    if (loss.kind == Kind::kLost && loss.lost_s < deaf_until_s_) continue;
    deaf_until_s_ = now_s + queued_s;
    return loss.kind;
  }
  return Kind::kNone;
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
