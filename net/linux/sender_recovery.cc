// What a sender does about losses: which segments are lost (RACK-TLP, RFC 8985), how its window shrinks
// (RFC 6937), time-outs and F-RTO (RFC 6298, 5682), and its one timer.
#include <algorithm>

#include "net/linux/sender.h"

namespace longhaul::linux_tcp {
namespace {

constexpr Nanoseconds kLeastTimer = 2 * kMillisecond;  // TCP_TIMEOUT_MIN_US
constexpr Nanoseconds kMostTimeOut = 120000 * kMillisecond;
constexpr int kDuplicates = 3;  // RFC 5681's threshold

// a was sent after b, as RACK orders them.
bool is_after(Nanoseconds a_ns, std::int32_t a, Nanoseconds b_ns, std::int32_t b) {
  return a_ns > b_ns || (a_ns == b_ns && a > b);
}

}  // namespace

void Sender::advance_rack(const Sent& sent, std::int32_t number, Nanoseconds now) {
  const Nanoseconds rtt = now - sent.sent_ns;
  if (rtt < trips_.least() && sent.was_sent_again) return;  // the original's
  has_rack_advanced_ = true;
  rack_rtt_ = rtt;
  if (is_after(sent.sent_ns, number, rack_sent_, rack_number_)) {
    rack_sent_ = sent.sent_ns;
    rack_number_ = number;
  }
}

// Whether the segment that the probe sent was the only one lost.
void Sender::take_probe_answer(const News& news, std::int32_t ack) {
  if (ack < probe_mark_) return;
  if (!probed_old_ || news.is_duplicate) {
    probe_mark_ = 0;
  } else if (ack > probe_mark_) {
    begin_reduction();
    phase_ = Phase::kReduced;
    end_reduction();
    keep_open();
  } else if (!news.advances && !news.has_sacks) {
    probe_mark_ = 0;
  }
}

// tcp_fastretrans_alert.
void Sender::change_phase(News& news, Nanoseconds now) {
  if (phase_ == Phase::kReduced && first_ > mark_) {
    end_reduction();
    phase_ = Phase::kOpen;
  } else if (phase_ == Phase::kRecovery && first_ >= mark_) {
    end_reduction();
    phase_ = Phase::kOpen;
  }
  if (phase_ == Phase::kLoss) {
    leave_loss(news);
    if (mark_lost(now)) news.sets_timer = false;
    return;
  }
  if (mark_lost(now)) news.sets_timer = false;
  if (phase_ == Phase::kRecovery) return;
  if (lost_ > 0) {
    enter_recovery();
  } else if (news.has_mark && phase_ != Phase::kReduced) {
    may_undo_ = false;
    begin_reduction();
    phase_ = Phase::kReduced;
    tells_cut_ = true;
  } else if (phase_ != Phase::kReduced) {
    keep_open();
  }
}

void Sender::keep_open() {
  const Phase phase = sacked_ + lost_ + resent_ > 0 ? Phase::kDisorder : Phase::kOpen;
  if (phase == phase_) return;
  phase_ = phase;
  mark_ = next_;
}

Nanoseconds Sender::reordering_window() const {
  if (phase_ == Phase::kRecovery || phase_ == Phase::kLoss || sacked_ >= kDuplicates) return 0;
  return std::min(trips_.least() / 4, trips_.smoothed());
}

bool Sender::mark_lost(Nanoseconds now) {
  if (!has_rack_advanced_) return false;
  has_rack_advanced_ = false;
  const Nanoseconds wait = find_lost(now);
  if (wait <= 0) return false;
  set_timer(Timer::kReorder, wait + kLeastTimer, now);
  return true;
}

// What was sent before the latest segment that arrived, and a round trip and the window for reordering ago,
// is lost. Returns how long it takes until the others that were sent before it are, 0 if there are none.
Nanoseconds Sender::find_lost(Nanoseconds now) {
  const Nanoseconds window = reordering_window();
  Nanoseconds wait = 0;
  bool is_settled = true;
  std::int32_t settled = std::max(rack_next_, first_);
  for (std::int32_t number = settled; number < next_; ++number) {
    Sent& sent = at(number);
    if (!sent.is_sacked && !sent.is_lost && !sent.was_sent_again) {
      if (!is_after(rack_sent_, rack_number_, sent.sent_ns, number)) break;
      const Nanoseconds left = rack_rtt_ + window - (now - sent.sent_ns);
      if (left <= 0) {
        lose(number);
      } else {
        wait = std::max(wait, left);
        is_settled = false;
      }
    }
    if (is_settled) settled = number + 1;
  }
  rack_next_ = settled;
  while (!resent_order_.empty()) {
    const Resent& oldest = resent_order_.front();
    if (oldest.number >= first_) {
      const Sent& sent = at(oldest.number);
      if (sent.is_sent_again && sent.sent_ns == oldest.sent_ns) {
        if (!is_after(rack_sent_, rack_number_, sent.sent_ns, oldest.number)) break;
        const Nanoseconds left = rack_rtt_ + window - (now - sent.sent_ns);
        if (left > 0) {
          wait = std::max(wait, left);
          break;
        }
        lose(oldest.number);
      }
    }
    resent_order_.pop_front();
  }
  return wait;
}

void Sender::lose(std::int32_t number) {
  Sent& sent = at(number);
  if (sent.is_sent_again) {
    sent.is_sent_again = false;
    --resent_;
    ++lost_ever_;
  }
  if (!sent.is_lost) {
    sent.is_lost = true;
    ++lost_;
    ++lost_ever_;
  }
  to_resend_ = std::min(to_resend_, number);
}

void Sender::begin_reduction() {
  mark_ = next_;
  probe_mark_ = 0;
  state_.counter = 0;
  window_before_ = state_.window;
  delivered_ = sent_since_ = 0;
  state_.threshold = control_->threshold_after_loss(state_);
}

void Sender::enter_recovery() {
  may_undo_ = true;
  if (!is_reducing()) {
    threshold_before_ = std::max(state_.threshold, state_.window / 2 + state_.window / 4);
    begin_reduction();
  }
  phase_ = Phase::kRecovery;
}

// RFC 6937, with one segment more while repairs arrive and nothing new is lost.
void Sender::reduce(int delivered, int newly_lost, bool advances) {
  if (delivered <= 0 || window_before_ == 0) return;
  delivered_ += delivered;
  const int room = state_.threshold - in_flight();
  int count;
  if (room < 0) {
    const std::int64_t share = static_cast<std::int64_t>(state_.threshold) * delivered_ + window_before_ - 1;
    count = static_cast<int>(share / window_before_) - sent_since_;
  } else {
    count = std::max(delivered_ - sent_since_, delivered);
    if (advances && newly_lost == 0) ++count;
    count = std::min(room, count);
  }
  count = std::max(count, sent_since_ > 0 ? 0 : 1);
  state_.window = in_flight() + count;
}

void Sender::end_reduction() {
  if (!has_control_ && state_.threshold < kInfiniteThreshold && (phase_ == Phase::kReduced || may_undo_))
    state_.window = state_.threshold;
  may_undo_ = false;
}

// tcp_process_loss with F-RTO: new data after a time-out tell whether the old ones were only late.
void Sender::leave_loss(const News& news) {
  const bool is_over = first_ >= mark_;
  if (tries_f_rto_) {
    if (news.covers_original && (news.advances || news.has_sacks) && may_undo_) {
      undo();
      return;
    }
    if (next_ > mark_) {
      if (news.has_sacks || !news.advances) tries_f_rto_ = false;
    } else if (news.advances && !is_over) {
      mark_ = next_;
      if (!(next_ < written_ && next_ < edge_)) tries_f_rto_ = false;
      if (tries_f_rto_) return;
    }
  }
  if (!is_over) return;
  phase_ = Phase::kOpen;
  may_undo_ = false;
  keep_open();
}

void Sender::undo() {
  for (std::int32_t number = first_; number < next_; ++number) at(number).is_lost = false;
  lost_ = 0;
  rack_next_ = first_;  // all are looked at again
  has_rack_advanced_ = true;
  tell_control();
  state_.window = control_->window_after_undo(state_, window_before_);
  state_.threshold = std::max(state_.threshold, threshold_before_);
  may_undo_ = tries_f_rto_ = false;
  phase_ = Phase::kOpen;
  backoff_ = retransmits_ = 0;
  keep_open();
}

void Sender::timer_fired(Nanoseconds now) {
  if (pace_ns_ <= now) pace(now);
  if (timer_ns_ > now) return;
  const Timer timer = timer_;
  timer_ = Timer::kNone;
  timer_ns_ = kNever;
  if (first_ == next_) return;
  if (timer == Timer::kProbe) {
    probe(now);
  } else if (timer == Timer::kTimeOut) {
    time_out(now);
  } else if (timer == Timer::kReorder) {
    const int before = in_flight();
    const std::int64_t lost_before = lost_ever_;
    find_lost(now);
    if (in_flight() != before) {
      if (phase_ != Phase::kRecovery && phase_ != Phase::kLoss) {
        enter_recovery();
        if (!has_control_) reduce(1, static_cast<int>(lost_ever_ - lost_before), false);
      }
      send_lost(now);
    }
    if (timer_ != Timer::kTimeOut) set_time_out(now);
  }
}

void Sender::probe(Nanoseconds now) {
  if (probe_mark_ == 0) {
    const std::int32_t before = next_;
    if (next_ < written_ && next_ < edge_ && next_ - first_ < rules_.window_limit) {
      push(now, true);
      if (next_ > before) {
        probed_old_ = false;
        probe_mark_ = next_;
      }
    } else if (queued_ == 0) {
      Sent& last = at(next_ - 1);
      if (last.is_sent_again) {  // it was sent again already
        last.is_sent_again = false;
        --resent_;
      }
      send_again(next_ - 1, now);
      probed_old_ = true;
      probe_mark_ = next_;
    }
  }
  set_time_out(now);
}

void Sender::time_out(Nanoseconds now) {
  ++time_outs_;
  const bool is_new = phase_ != Phase::kRecovery && phase_ != Phase::kLoss;
  if (phase_ == Phase::kOpen || phase_ == Phase::kDisorder || first_ >= mark_ ||
      (phase_ == Phase::kLoss && retransmits_ == 0)) {
    threshold_before_ = std::max(state_.threshold, state_.window / 2 + state_.window / 4);
    window_before_ = state_.window;
    state_.threshold = control_->threshold_after_loss(state_);
    may_undo_ = true;
  }
  for (std::int32_t number = first_; number < next_; ++number) {
    Sent& sent = at(number);
    if (sent.is_sacked) continue;
    // What was sent a moment ago is not lost yet.
    if (number != first_ && rack_rtt_ - (now - sent.sent_ns) > 0) continue;
    lose(number);
  }
  state_.window = in_flight() + 1;
  state_.counter = 0;
  phase_ = Phase::kLoss;
  tell_control();
  control_->timed_out(state_);
  mark_ = next_;
  probe_mark_ = 0;
  tries_f_rto_ = is_new || retransmits_ > 0;
  to_resend_ = first_;
  if (!at(first_).is_sent_again) send_again(first_, now);
  backoff_ = std::min(backoff_ + 1, 15);
  ++retransmits_;
  set_timer(Timer::kTimeOut, std::min(trips_.time_out() << backoff_, kMostTimeOut), now);
}

bool Sender::set_probe(Nanoseconds now, bool is_new) {
  if (next_ == first_ || (phase_ != Phase::kOpen && phase_ != Phase::kReduced)) return false;
  Nanoseconds wait = 2 * trips_.smoothed() + (next_ - first_ == 1 ? kLeastTimeOut : kLeastTimer);
  const Nanoseconds rto = is_new ? trips_.time_out() << backoff_ : left_to_time_out(now);
  if (rto > 0) wait = std::min(wait, rto);
  set_timer(Timer::kProbe, wait, now);
  return true;
}

Nanoseconds Sender::left_to_time_out(Nanoseconds now) {
  return (trips_.time_out() << backoff_) - (now - at(first_).sent_ns);
}

void Sender::set_time_out(Nanoseconds now) {
  if (first_ == next_) {
    timer_ = Timer::kNone;
    timer_ns_ = kNever;
    return;
  }
  Nanoseconds wait = trips_.time_out() << backoff_;
  if (timer_ == Timer::kReorder || timer_ == Timer::kProbe)
    wait = std::max(left_to_time_out(now), kMicrosecond);
  set_timer(Timer::kTimeOut, std::min(wait, kMostTimeOut), now);
}

void Sender::set_timer(Timer timer, Nanoseconds wait, Nanoseconds now) {
  timer_ = timer;
  // tcp_pacing_delay: whole jiffies until the next segment may leave.
  if (timer != Timer::kReorder) wait += std::max<Nanoseconds>(0, pacer_.next_ns() - now) / kJiffy * kJiffy;
  timer_ns_ = wheel_expiry(now, wait, rules_.phase_ns);
}

}  // namespace longhaul::linux_tcp
