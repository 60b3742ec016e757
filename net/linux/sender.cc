#include "net/linux/sender.h"

#include <algorithm>
#include <type_traits>

#include "core/base/errors.h"

namespace longhaul::linux_tcp {
namespace {

constexpr int kOverheadBytes = 1280;  // of the kernel's buffer for a segment, beside its payload
// The same, of what tcp_sndbuf_expand reckons with: 12 of options, MAX_TCP_HEADER, skb_shared_info.
constexpr int kOverheadOfBufferBytes = 588;

}  // namespace

Sender::Sender(const SenderRules& rules, Nanoseconds rtt, SegmentOutput& output)
    : rules_(rules),
      output_(output),
      control_(make_congestion_control(
          {rules.congestion_control, rules.segment, rtt, rules.seed, rules.connection}, state_, rate_)),
      has_control_(control_->has_control()),
      edge_(kInitialReceiveWindow),
      ring_(64),
      stamps_(has_control_ ? ring_.size() : 0),
      buffer_(rules.buffer.first),
      segment_memory_(rules.segment + rules.buffer.overhead),
      trips_(rtt) {
  state_.is_paced = rules.has_fq || has_control_;
  grow_buffer();
  if (!has_control_) update_pacing_rate();
}

void Sender::write(std::int64_t bytes, Nanoseconds now) {
  unwritten_.push_back(bytes);
  if (is_blocked_) return;
  // tcp_rate_check_app_limited.
  if (next_ == written_ && queued_ == 0 && in_flight() < state_.window && lost_ <= resent_)
    rate_.limit(in_flight());
  fill_buffer();
  if (first_ == next_) restart_if_idle(now);
  push(now);
}

// Segments that were acknowledged selectively share a buffer with their neighbours (tcp_shift_skb_data).
std::int64_t Sender::buffer_used() const {
  const auto joined = static_cast<std::int64_t>(sacked_) - static_cast<std::int64_t>(sacked_ranges_.size());
  return std::int64_t{written_ - first_} * segment_memory_ -
         std::max<std::int64_t>(joined, 0) * rules_.buffer.overhead;
}

// tcp_sendmsg: until more than the buffer is used. What is in it when that is full is pushed (PSH).
void Sender::fill_buffer() {
  is_blocked_ = false;
  while (!unwritten_.empty()) {
    if (buffer_used() >= buffer_) {
      is_blocked_ = true;
      if (written_ > next_ && (ends_.empty() || ends_.back().number < written_ - 1))
        ends_.push_back({written_ - 1, 0, Push::kFull});
      return;
    }
    std::int64_t& bytes = unwritten_.front();
    const std::int64_t room = (buffer_ - buffer_used() + segment_memory_ - 1) / segment_memory_;
    const std::int64_t count = std::min((bytes + rules_.segment - 1) / rules_.segment, room);
    if (written_ + count > kMostSegments) throw RunError(kTooManySegments);
    written_ += static_cast<std::int32_t>(count);
    bytes -= count * rules_.segment;
    if (bytes > 0) continue;
    ends_.push_back({written_ - 1, static_cast<int>(-bytes), Push::kMessage});
    unwritten_.pop_front();
  }
}

// tcp_check_space: a buffer that is the limit grows to twice the window, and its writer goes on once a third
// of it is free.
void Sender::use_buffer(Nanoseconds now) {
  if (!is_blocked_) return;
  if (in_flight() < state_.window) {
    grow_buffer();
    use_ns_ = now;
  }
  if (buffer_ - buffer_used() < buffer_used() / 2) return;
  fill_buffer();
  push(now);
}

// tcp_sndbuf_expand: for each segment what the kernel takes for one, a power of two and 256 bytes.
void Sender::grow_buffer() {
  std::int64_t one = 1024;
  while (one < rules_.segment + kOverheadOfBufferBytes) one *= 2;
  const std::int64_t grown = control_->buffered_windows() * (one + 256) * std::max(kInitialWindow, state_.window);
  buffer_ = std::max(buffer_, std::min(grown, rules_.buffer.most));
}

void Sender::drop_unsent() {
  unwritten_.clear();
  is_blocked_ = false;
  written_ = next_;
  while (!ends_.empty() && ends_.back().number >= written_) ends_.pop_back();
}

// RFC 2861 as Linux has it: half of the window for every time-out of silence.
void Sender::restart_if_idle(Nanoseconds now) {
  if (!rules_.slow_start_after_idle || has_control_) return;
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
  if (!rules_.has_small_queues && !rules_.has_fq) return true;
  // A millisecond at the pacing rate, at least two segments.
  const int segment_memory = rules_.segment + kOverheadBytes;
  const int segments = static_cast<int>(std::min(4e6, state_.pacing_rate / 1024) / segment_memory) + 1;
  return queued_ < std::max(2, segments);
}

// tcp_update_pacing_rate, for controls that do not set it: twice the window a round trip in slow start, 1.2
// times behind it.
void Sender::update_pacing_rate() {
  const double factor = state_.window < state_.threshold / 2 ? 2 : 1.2;
  state_.pacing_rate = 1e9 * factor * std::max(state_.window, next_ - first_) * rules_.segment /
                       std::max<double>(1, static_cast<double>(trips_.smoothed()));
}

// tcp_pacing_check: without fq the socket waits itself.
bool Sender::waits_for_pace(Nanoseconds now) {
  if (!has_control_ || rules_.has_fq || pacer_.next_ns() <= now) return false;
  if (pace_ns_ == kNever) pace_ns_ = pacer_.next_ns();
  return true;
}

// Segments that fq holds until they may leave.
void Sender::release(Nanoseconds now) {
  while (!held_.empty() && held_.front().leaves_ns <= now) {
    const Held one = held_.front();
    held_.pop_front();
    output_.transmit(one.number, one.missing, one.push, one.is_again, now);
  }
  pace_ns_ = held_.empty() ? kNever : held_.front().leaves_ns;
}

void Sender::pace(Nanoseconds now) {
  pace_ns_ = kNever;
  if (rules_.has_fq) return release(now);
  if (lost_ > resent_) send_lost(now);
  push(now);
}

void Sender::tell_control() {
  state_.in_flight = in_flight();
  state_.lost = lost_ever_;
  state_.departure_ns = pacer_.next_ns();
  state_.repair = phase_ == Phase::kRecovery ? Repair::kRecovery
                  : phase_ == Phase::kLoss   ? Repair::kLoss
                                             : Repair::kNone;
}

void Sender::control(const News& news, int prior_in_flight, int newly_lost, Nanoseconds now) {
  RateSample sample = rate_.sample(news.delivered, trips_.least(), now);
  sample.newly_lost = newly_lost;
  sample.prior_in_flight = prior_in_flight;
  sample.rtt = news.rtt;
  sample.is_ack_delayed = news.is_short && !news.has_sacks && sample.prior_delivered + 1 == rate_.delivered();
  tell_control();
  control_->acknowledged(state_, sample, now, jiffies(now));
}

// Hands a segment to the host's queue. It is not counted as in flight yet.
void Sender::emit(std::int32_t number, bool is_again, Nanoseconds now) {
  if (has_control_ && in_flight() == 0) {
    tell_control();
    control_->begins(state_, now, jiffies(now));
  }
  ++queued_;
  last_sent_ns_ = now;
  const auto end = std::lower_bound(ends_.begin(), ends_.end(), number,
                                    [](const End& one, std::int32_t n) { return one.number < n; });
  const bool is_end = end != ends_.end() && end->number == number;
  const int missing = is_end ? end->missing : 0;
  const Push push = is_end ? end->push : Push::kNone;
  Nanoseconds leaves = now;
  if (state_.is_paced) {
    leaves = pacer_.take(rules_.segment - missing, state_.pacing_rate, sent_ + sent_again_, now);
    if (has_control_) stamp(number) = rate_.sent(leaves, first_ == next_);
  }
  at(number).sent_ns = leaves;
  if (!rules_.has_fq || (leaves <= now && held_.empty()))
    return output_.transmit(number, missing, push, is_again, now);
  held_.push_back({leaves, number, missing, push, is_again});
  if (held_.size() == 1) pace_ns_ = leaves;
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
    if (waits_for_pace(now)) break;
    if (!is_probe && in_flight() >= state_.window) {
      is_limited = true;
      break;
    }
    if (next_ >= edge_ || next_ - first_ >= rules_.window_limit) break;
    if (!may_queue()) break;
    if (static_cast<std::size_t>(next_ - first_) == ring_.size()) make_room();
    if (in_flight() == 0 && first_ == next_)
      control_->restarted(jiffies(now) - jiffies(last_sent_ns_), jiffies(now));
    at(next_) = {};
    const bool was_empty = next_ == first_;
    emit(next_, false, now);
    state_.next = ++next_;
    ++count;
    ++sent_;
    if (was_empty || timer_ == Timer::kProbe) set_time_out(now);
    if (is_probe) break;
  }
  is_limited |= in_flight() >= state_.window;
  if (count > 0 || is_limited) note_use(is_limited, now);
  if (count > 0) {
    if (is_reducing()) sent_since_ += count;
    if (!is_probe) set_probe(now, false);
  }
}

void Sender::make_room() {
  const auto grown = [this](auto& ring) {
    std::remove_reference_t<decltype(ring)> larger(2 * ring.size());
    for (std::int32_t n = first_; n < next_; ++n)
      larger[static_cast<std::size_t>(n) & (larger.size() - 1)] =
          ring[static_cast<std::size_t>(n) & (ring.size() - 1)];
    ring = std::move(larger);
  };
  grown(ring_);
  if (has_control_) grown(stamps_);
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
  const bool wants_more = next_ < written_ || is_blocked_;
  if (!rules_.slow_start_after_idle || has_control_ || wants_more || phase_ != Phase::kOpen ||
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
  emit(number, true, now);
  Sent& sent = at(number);
  sent.is_sent_again = sent.was_sent_again = true;
  ++resent_;
  ++sent_again_;
  resent_order_.push_back({number, sent.sent_ns});
}

void Sender::send_lost(Nanoseconds now) {
  bool has_sent_first = false;
  std::int32_t number = std::max(to_resend_, first_);
  for (; number < next_ && lost_ > resent_; ++number) {
    if (waits_for_pace(now)) break;
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
  const int prior_in_flight = in_flight();
  if (has_control_) rate_.begin();
  news.advances = ack.number > first_;
  news.is_duplicate = ack.is_duplicate;
  news.has_mark = ack.is_marked;
  if (ack.edge > edge_) {
    edge_ = ack.edge;
    news.has_window = true;
  }
  if (news.advances) backoff_ = retransmits_ = 0;
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
  if (has_control_)
    control(news, prior_in_flight, newly_lost, now);
  else if (is_reducing())
    reduce(news.delivered, newly_lost, news.advances);
  else if (news.advances && is_window_used())
    control_->grow(state_, news.delivered, jiffies(now));
  if (!has_control_) update_pacing_rate();
  if (sends_new_first) {
    push(now);
    if (next_ > mark_) return use_buffer(now);
    tries_f_rto_ = false;
  }
  if (lost_ > resent_) send_lost(now);
  push(now);
  use_buffer(now);
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
  if (has_control_) rate_.covers(stamp(number), sent.sent_ns, number);
  sent.is_lost = sent.is_sent_again = false;
  sent.is_sacked = true;
  ++sacked_;
  ++news.delivered;
  news.has_sacks = true;
}

void Sender::take_covered(std::int32_t up_to, News& news, Nanoseconds now) {
  news.is_short = up_to - first_ == 1 && !ends_.empty() && ends_.front().number == first_ &&
                  ends_.front().missing > 0 && !at(first_).is_sacked;
  for (; first_ < up_to; ++first_) {
    Sent& sent = at(first_);
    if (has_control_) rate_.covers(stamp(first_), sent.sent_ns, first_);
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

void Sender::measure(News& news, Nanoseconds now) {
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
  // RFC 6298, 5.7 as tcp_ack_update_rtt has it. The time-out begins anew unless what was measured was sent
  // after the first segment that is missing.
  backoff_ = 0;
  if (!news.advances && first_ < next_ && now - news.first_sacked_ns > now - at(first_).sent_ns)
    news.sets_timer = true;
  news.rtt = latest;
  trips_.measure(rtt, latest, first_, next_);
  control_->sample(state_, latest, now, jiffies(now));
}

}  // namespace longhaul::linux_tcp
