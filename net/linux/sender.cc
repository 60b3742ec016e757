#include "net/linux/sender.h"

#include <algorithm>

#include "core/base/errors.h"

namespace longhaul::linux_tcp {
namespace {

constexpr int kOverheadBytes = 1280;  // of the kernel's buffer for a segment, beside its payload

}  // namespace

Sender::Sender(const SenderRules& rules, Nanoseconds rtt, SegmentOutput& output)
    : rules_(rules),
      output_(output),
      control_(make_congestion_control(rules.congestion_control)),
      edge_(kInitialReceiveWindow),
      ring_(64),
      trips_(rtt) {
  state_.is_paced = rules.is_paced;
}

std::int32_t Sender::write(std::int64_t bytes, Nanoseconds now) {
  const std::int64_t count = (bytes + rules_.segment - 1) / rules_.segment;
  if (written_ + count > (1 << 30))
    throw RunError("a connection would carry more than 2^30 segments; use more network.tcp.connections");
  written_ += static_cast<std::int32_t>(count);
  ends_.push_back({written_ - 1, static_cast<int>(count * rules_.segment - bytes)});
  if (first_ == next_) restart_if_idle(now);
  push(now);
  return written_;
}

// RFC 2861 as Linux has it: half of the window for every time-out of silence.
void Sender::restart_if_idle(Nanoseconds now) {
  if (!rules_.slow_start_after_idle) return;
  const std::int64_t rto = to_jiffies(trips_.time_out());
  std::int64_t idle = jiffies(now) - jiffies(last_sent_ns_);
  if (idle <= rto) return;
  state_.threshold =
      is_reducing() ? state_.threshold : std::max(state_.threshold, state_.window / 2 + state_.window / 4);
  const int least = std::min(kInitialWindow, state_.window);
  while ((idle -= rto) > 0 && state_.window > least) state_.window /= 2;
  state_.window = std::max(state_.window, least);
  use_ns_ = now;
  used_ = 0;
}

bool Sender::may_queue() const {
  if (!rules_.has_small_queues) return true;
  // A millisecond at the rate at which a paced sender would send, at least two segments.
  const double factor = state_.window < state_.threshold / 2 ? 2 : 1.2;
  const double rate = factor * std::max(state_.window, next_ - first_) * rules_.segment /
                      std::max<double>(1, static_cast<double>(trips_.smoothed()));
  const int segment_memory = rules_.segment + kOverheadBytes;
  const int segments =
      static_cast<int>(std::min(4e6, rate * (1000 * kMillisecond >> 10)) / segment_memory) + 1;
  return queued_ < std::max(2, segments);
}

void Sender::emit(std::int32_t number, bool is_again, Nanoseconds now) {
  ++queued_;
  last_sent_ns_ = now;
  const auto end = std::lower_bound(ends_.begin(), ends_.end(), number,
                                    [](const Short& one, std::int32_t n) { return one.number < n; });
  const bool is_end = end != ends_.end() && end->number == number;
  output_.transmit(number, is_end ? end->missing : 0, is_end, is_again, now);
}

void Sender::left_queue(Nanoseconds now) {
  --queued_;
  if (phase_ == Phase::kRecovery || phase_ == Phase::kLoss) send_lost(now);
  push(now);
}

void Sender::push(Nanoseconds now, bool is_probe) {
  int count = 0;
  bool is_limited = false;
  while (next_ < written_) {
    if (!is_probe && in_flight() >= state_.window) {
      is_limited = true;
      break;
    }
    if (next_ >= edge_ || next_ - first_ >= rules_.window_limit) break;
    if (!may_queue()) break;
    if (static_cast<std::size_t>(next_ - first_) == ring_.size()) {
      std::vector<Sent> larger(2 * ring_.size());
      for (std::int32_t n = first_; n < next_; ++n)
        larger[static_cast<std::size_t>(n) & (larger.size() - 1)] = at(n);
      ring_ = std::move(larger);
    }
    if (in_flight() == 0 && first_ == next_)
      control_->restarted(jiffies(now) - jiffies(last_sent_ns_), jiffies(now));
    at(next_) = {now, false, false, false, false};
    const bool was_empty = next_ == first_;
    const std::int32_t number = next_++;
    state_.next = next_;
    ++count;
    ++sent_;
    if (was_empty || timer_ == Timer::kProbe) set_time_out(now);
    emit(number, false, now);
    if (is_probe) break;
  }
  is_limited |= in_flight() >= state_.window;
  if (count > 0 || is_limited) note_use(is_limited, now);
  if (count > 0) {
    if (is_reducing()) sent_since_ += count;
    if (!is_probe) set_probe(now, false);
  }
}

// tcp_cwnd_validate: what of the window was used in the round trip before.
void Sender::note_use(bool is_limited, Nanoseconds now) {
  const int out = next_ - first_;
  if (first_ >= use_mark_ || is_limited || (!is_limited_ && out > most_out_)) {
    is_limited_ = is_limited;
    most_out_ = out;
    use_mark_ = next_;
  }
  if (is_window_used()) {
    used_ = 0;
    use_ns_ = now;
    return;
  }
  used_ = std::max(used_, out);
  const bool wants_more = next_ < written_;
  if (!rules_.slow_start_after_idle || wants_more || phase_ != Phase::kOpen ||
      now - use_ns_ < trips_.time_out())
    return;
  const int used = std::max(used_, kInitialWindow);
  if (used < state_.window) {
    state_.threshold = std::max(state_.threshold, state_.window / 2 + state_.window / 4);
    state_.window = (state_.window + used) / 2;
  }
  used_ = 0;
  use_ns_ = now;
}

bool Sender::is_window_used() const {
  return is_limited_ || (state_.in_slow_start() && state_.window < 2 * most_out_);
}

void Sender::send_again(std::int32_t number, Nanoseconds now) {
  Sent& sent = at(number);
  sent.sent_ns = now;
  sent.is_sent_again = sent.was_sent_again = true;
  ++resent_;
  ++sent_again_;
  resent_order_.push_back({number, now});
  emit(number, true, now);
}

void Sender::send_lost(Nanoseconds now) {
  bool has_sent_first = false;
  std::int32_t number = std::max(to_resend_, first_);
  for (; number < next_ && lost_ > resent_; ++number) {
    Sent& sent = at(number);
    if (!sent.is_lost || sent.is_sent_again || sent.is_sacked) continue;
    if (state_.window <= in_flight() || !may_queue()) break;
    send_again(number, now);
    if (is_reducing()) ++sent_since_;
    has_sent_first |= number == first_ && timer_ != Timer::kReorder;
  }
  to_resend_ = number;
  if (has_sent_first) set_timer(Timer::kTimeOut, trips_.time_out() << backoff_, now);
}

void Sender::acknowledged(const Packet& ack, Nanoseconds now) {
  if (ack.number < first_) return;
  echo_ns_ = ack.sent_ns;
  News news;
  const std::int64_t lost_before = lost_ever_;
  news.advances = ack.number > first_;
  news.is_duplicate = ack.is_duplicate;
  news.has_mark = ack.is_marked;
  if (ack.edge > edge_) {
    edge_ = ack.edge;
    news.has_window = true;
  }
  if (news.advances) backoff_ = 0;
  take_sacks(ack, news, now);
  take_covered(ack.number, news, now);
  measure(news, now);
  if (probe_mark_ > 0) take_probe_answer(news, ack.number);
  const bool is_dubious = !(news.advances || news.has_window) || news.has_sacks || news.is_duplicate ||
                          news.has_mark || phase_ != Phase::kOpen;
  bool sends_new_first = false;
  if (is_dubious && next_ > first_) {
    change_phase(news, now);
    sends_new_first = tries_f_rto_ && phase_ == Phase::kLoss && news.advances;
  } else if (is_dubious) {
    change_phase(news, now);
  }
  if (news.sets_timer && !set_probe(now, true)) set_time_out(now);
  const auto newly_lost = static_cast<int>(lost_ever_ - lost_before);
  if (is_reducing())
    reduce(news.delivered, newly_lost, news.advances);
  else if (news.advances && is_window_used())
    control_->grow(state_, news.delivered, jiffies(now));
  if (sends_new_first) {
    push(now);
    if (next_ > mark_) return;
    tries_f_rto_ = false;
  }
  if (lost_ > resent_) send_lost(now);
  push(now);
}

void Sender::take_sacks(const Packet& ack, News& news, Nanoseconds now) {
  for (int i = 0; i < ack.sack_count; ++i) {
    const Range& range = ack.sacks[static_cast<std::size_t>(i)];
    const Range open{std::max({range.begin, first_, ack.number}), std::min(range.end, next_)};
    if (open.begin < open.end) take_range(open, news, now);
  }
}

// Only what no earlier acknowledgement reported is new: ranges grow and join.
void Sender::take_range(Range range, News& news, Nanoseconds now) {
  auto first = std::lower_bound(sacked_ranges_.begin(), sacked_ranges_.end(), range.begin,
                                [](const Range& known, std::int32_t begin) { return known.end < begin; });
  auto last = first;
  std::int32_t number = range.begin;
  Range joined = range;
  for (; last != sacked_ranges_.end() && last->begin <= range.end; ++last) {
    for (; number < last->begin; ++number) sack(number, news, now);
    number = std::max(number, last->end);
    joined.begin = std::min(joined.begin, last->begin);
    joined.end = std::max(joined.end, last->end);
  }
  for (; number < range.end; ++number) sack(number, news, now);
  if (first == last) {
    sacked_ranges_.insert(first, joined);
  } else {
    *first = joined;
    sacked_ranges_.erase(first + 1, last);
  }
}

void Sender::sack(std::int32_t number, News& news, Nanoseconds now) {
  Sent& sent = at(number);
  if (sent.is_sent_again) {
    --resent_;
  } else if (!sent.was_sent_again) {
    if (number < mark_) news.covers_original = true;
    if (news.first_sacked_ns < 0 || sent.sent_ns < news.first_sacked_ns) news.first_sacked_ns = sent.sent_ns;
    news.last_sacked_ns = std::max(news.last_sacked_ns, sent.sent_ns);
  }
  if (sent.is_lost) --lost_;
  advance_rack(sent, number, now);
  sent.is_lost = sent.is_sent_again = false;
  sent.is_sacked = true;
  ++sacked_;
  ++news.delivered;
  news.has_sacks = true;
}

void Sender::take_covered(std::int32_t up_to, News& news, Nanoseconds now) {
  for (; first_ < up_to; ++first_) {
    Sent& sent = at(first_);
    if (sent.was_sent_again) {
      if (sent.is_sent_again) --resent_;
      news.covers_resent = true;
    } else if (!sent.is_sacked) {
      if (news.first_ns < 0) news.first_ns = sent.sent_ns;
      news.last_ns = sent.sent_ns;
      if (first_ < mark_) news.covers_original = true;
    }
    if (sent.is_lost) --lost_;
    if (sent.is_sacked) {
      --sacked_;
    } else {
      ++news.delivered;
      advance_rack(sent, first_, now);
    }
  }
  state_.acknowledged = first_;
  auto settled = sacked_ranges_.begin();
  while (settled != sacked_ranges_.end() && settled->end <= first_) ++settled;
  sacked_ranges_.erase(sacked_ranges_.begin(), settled);
  if (!sacked_ranges_.empty()) sacked_ranges_.front().begin = std::max(sacked_ranges_.front().begin, first_);
  while (!ends_.empty() && ends_.front().number < first_) ends_.pop_front();
  if (news.advances) news.sets_timer = true;
}

void Sender::measure(const News& news, Nanoseconds now) {
  Nanoseconds rtt = -1, latest = -1;
  if (news.first_ns >= 0 && !news.covers_resent) {
    rtt = now - news.first_ns;
    latest = now - news.last_ns;
  }
  if (news.first_sacked_ns >= 0) {
    if (rtt < 0) rtt = now - news.first_sacked_ns;
    latest = now - news.last_sacked_ns;
  }
  if (rtt < 0) return;
  trips_.measure(rtt, latest, first_, next_);
  control_->sample(state_, latest, now, jiffies(now));
}

}  // namespace longhaul::linux_tcp
