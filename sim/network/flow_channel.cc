#include "sim/network/flow_channel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace longhaul {
namespace {

// A window that covers the pipe up to rounding is one that covers it.
constexpr double kCovers = 1 - 1e-9;
constexpr double kSameMoment = 1e-9;
constexpr double kBeyond = 1e-6;      // so far beyond a level a window is above it, in spite of rounding
constexpr double kShortest_s = 1e-7;  // lower bound on any wait; without it rounding can loop forever
// Of a transfer over a window that never covers the path: rounds that go as bursts before it ends, and how
// many more there must be for the others to be one fluid.
constexpr double kLastRounds = 4, kFewRounds = 3;

WindowRules window_rules(const ConnectionFacts& facts, const FlowChannel::Rules& rules) {
  return {rules.segment, facts.window_limit,         facts.rtt_s, rules.is_cubic, rules.is_linux,
          rules.link,    rules.slow_start_after_idle};
}

}  // namespace

FlowChannel::FlowChannel(ConnectionFacts facts, const Rules& rules,
                         std::unique_ptr<CongestionReaction> reaction)
    : reaction_(std::move(reaction)),
      rules_(rules),
      facts_(std::move(facts)),
      window_(window_rules(facts_, rules)) {
  if (reaction_ && rules_.connections != 1)
    throw std::logic_error("where the network signals congestion a channel is one connection");
  know_path();
  bursts_.credit = window();
}

double FlowChannel::rate_limit() const {
  return facts_.rtt_s > 0 ? facts_.window_limit * rules_.connections / facts_.rtt_s
                          : std::numeric_limits<double>::infinity();
}

void FlowChannel::push(Transmission transfer, double now) {
  queue_.push_back(std::move(transfer));
  if (queue_.size() > 1) {
    SpentTime spent = times_.spent;
    spend(now - updated_s_, spent);
    return times_.queue_behind(spent.parts);
  }
  times_.start();
  start(now);
}

// Of a transfer that is split its part on an idle path, beside the other parts.
void FlowChannel::know_path() {
  const double limit = facts_.window_limit;
  const int segment = static_cast<int>(rules_.segment);
  facts_.window_limit = std::numeric_limits<double>::infinity();
  links_alone_ = alone_rate(facts_, segment, rules_.connections, rules_.channels);
  facts_.window_limit = limit;
  alone_ = alone_rate(facts_, segment, rules_.connections, rules_.channels);
  is_window_limited_ = std::isfinite(links_alone_) && alone_ < links_alone_ * kCovers;
}

// Waiting with the largest window is what the path costs alone.
void FlowChannel::spend(double elapsed_s, SpentTime& spent) const {
  if (rate_ == 0) {
    spent.parts.waiting_s += elapsed_s;
  } else if (may_send()) {
    spent.sending(elapsed_s, pace_ * elapsed_s, !is_fluid());
  } else {
    const bool is_at_limit = is_window_limited_ && window_.is_at_limit() && !is_reduced_;
    spent.waiting(elapsed_s, is_at_limit   ? &SyncParts::bytes_s
                             : is_reduced_ ? &SyncParts::congestion_s
                                           : &SyncParts::startup_s);
  }
}

// Without data until now. Linux moves the cubic's epoch by idle time, ns-3 does not.
void FlowChannel::rest(double now) {
  take_acknowledgements(now);
  const bool is_epoch_moved = rules_.is_linux && bursts_.is_idle();
  if (reaction_) follow(is_epoch_moved ? 0 : now - updated_s_, 0, now);
  updated_s_ = now;
}

void FlowChannel::start(double now) {
  rest(now);
  remaining_ = static_cast<double>(queue_.front().bytes);
  if (window_.idled(now - last_sent_s_)) is_reduced_ = false;
  if (is_reducing_) window_.hold_reduction();
  is_reducing_ = false;
  bursts_.released = 0;
  if (bursts_.is_idle()) bursts_.credit = window();
  pace_rounds();
}

// A channel that waits for acknowledgements has a burst under way, so that one will come.
void FlowChannel::follow_path(const ConnectionFacts& present) {
  const double before = window();
  facts_.delay_s = present.delay_s;
  facts_.rtt_s = present.rtt_s;
  fluid_.covered = 0;
  facts_.bottleneck = present.bottleneck;
  facts_.ack_limit = present.ack_limit;
  facts_.window_limit = present.window_limit;
  window_.follow_path(present.rtt_s, present.window_limit);
  know_path();
  pace_ = rate_ / (is_fluid() ? alone_ : links_alone_);
  if (is_fluid()) return;
  bursts_.credit += window() - before;
  if (bursts_.credit <= nothing()) end_burst();
}

// An outage (a rate of 0) says nothing about the window: the channel waits as it is.
void FlowChannel::set_rate(double rate, double now) {
  if (rate == 0) {
    end_burst();
    rate_ = 0;
    return;
  }
  const bool is_covered = covers(rate);
  // What is on its way counts against a window that is no larger than the path.
  const bool may_be_fluid = !is_window_limited_ || bursts_.is_idle();
  if (is_covered && !is_fluid() && may_be_fluid) enter_fluid(State::kFluid);
  if (!is_covered && is_fluid()) leave_fluid(now);
  if (rate != rate_ || is_window_limited_) pace_ = rate / (is_fluid() ? alone_ : links_alone_);
  rate_ = rate;
  if (reaction_) watch_queue(now);
}

// The window of a fluid channel stays as it is where nothing signals: a smaller rate need not look at it.
bool FlowChannel::covers(double rate) {
  if (is_fluid() && !reaction_ && rate <= fluid_.covered) return true;
  const bool is_covered = window() >= rate * facts_.rtt_s * kCovers;
  if (is_covered) fluid_.covered = rate;
  return is_covered;
}

void FlowChannel::enter_fluid(State state) {
  state_ = state;
  const bool is_under_way = is_window_limited_ && last_sent_s_ == updated_s_;
  fluid_.sent = is_under_way ? bursts_.released : 0;
  times_.spent.excess_s = 0;
  bursts_.clear();
}

// What fills the pipe keeps being acknowledged, from now on and over one round trip.
void FlowChannel::leave_fluid(double now) {
  if (state_ == State::kPaced) return end_pacing(now);
  state_ = State::kBursts;
  const double pipe = std::min(rate_ * facts_.rtt_s, window());
  if (reaction_)
    reaction_->queue_below(now);
  else
    window_.filled_pipe(fluid_.sent / rules_.connections, pipe / rules_.connections);
  const double in_flight = std::min(pipe, fluid_.sent);
  bursts_.credit = window() - in_flight;
  bursts_.in_flight = in_flight;
  if (in_flight > 0)
    is_window_limited_ ? spread_in_flight(in_flight, now) : bursts_.under_way.push_back({now, in_flight});
}

// Acknowledgements of what was sent evenly during the latest round trip come evenly during the next.
void FlowChannel::spread_in_flight(double bytes, double now) {
  constexpr int kParts = 4;
  for (int part = 0; part < kParts; ++part)
    bursts_.under_way.push_back({now + (part + 0.5) / kParts * facts_.rtt_s, bytes / kParts});
}

bool FlowChannel::has_whole_window() const {
  return bursts_.is_idle() && window_.is_at_limit() && bursts_.credit >= window() * kCovers;
}

// Before a window leaves, when nothing is under way.
void FlowChannel::pace_rounds() {
  if (!is_window_limited_ || is_fluid() || !has_whole_window()) return;
  const double rounds = std::floor(remaining_ / window()) - kLastRounds;
  if (rounds < kFewRounds) return;
  fluid_.covered = 0;  // of another window
  enter_fluid(State::kPaced);
  fluid_.paced_until = remaining_ - rounds * window();
}

// The next window may leave, as before the first of these rounds; unless the links did not let a window
// through in each of them, so that data is under way.
void FlowChannel::end_pacing(double now) {
  state_ = State::kFluid;
  if (reaction_)
    reaction_->queue_below(now);
  else
    window_.acknowledged(fluid_.sent / rules_.connections, window_.bytes());
  if (rate_ < rate_limit() * kCovers) return leave_fluid(now);
  state_ = State::kBursts;
  bursts_.credit = window();
  bursts_.in_flight = 0;
}

// What may be sent before something happens.
double FlowChannel::before_event() const {
  switch (state_) {
    case State::kPaced:
      return remaining_ - fluid_.paced_until;
    case State::kFluid:
      return remaining_;
    case State::kBursts:
      break;
  }
  return std::min(remaining_, bursts_.credit);
}

double FlowChannel::next_change_s() const {
  const double next = before_event();
  const double sent_s = std::max(0., next / rate_);
  if (!reaction_) return sent_s;
  const double signal_s = std::min(reaction_->next_s() - updated_s_, reaction_->bytes_to_loss() / rate_);
  return std::min(sent_s, std::max(kShortest_s, std::min(signal_s, crossing_s())));
}

double FlowChannel::release_s() const {
  const double acknowledged_s = bursts_.under_way.front().acknowledged_s;
  return reaction_ ? std::min(acknowledged_s, reaction_->next_s()) : acknowledged_s;
}

// Until the queue of a fluid channel is above the level that its network watches.
double FlowChannel::crossing_s() const {
  const double level = pipe() + reaction_->watched_level(rate_);
  if (!is_fluid() || window_.bytes() >= level || level > facts_.window_limit) return kNoSignal;
  return window_.time_to(level * (1 + kBeyond), rate_, pipe(), fluid_.sent);
}

void FlowChannel::advance(double now) {
  const double elapsed_s = now - updated_s_;
  if (queue_.empty()) return rest(now);
  const double sent = may_send() ? std::min(remaining_, rate_ * elapsed_s) : 0;
  spend(elapsed_s, times_.spent);
  updated_s_ = now;
  remaining_ -= sent;
  if (sent > 0) last_sent_s_ = now;
  if (is_fluid()) {
    fluid_.sent += sent;
    if (reaction_) follow(elapsed_s, sent, now);
    if (state_ == State::kPaced && remaining_ <= fluid_.paced_until + nothing()) end_pacing(now);
    return;
  }
  bursts_.send(sent, rate_, now);
  if (bursts_.credit <= nothing() || remaining_ <= nothing()) end_burst();
  take_acknowledgements(now);
  if (reaction_) follow(elapsed_s, sent, now);
}

void FlowChannel::Bursts::send(double sent, double rate, double now) {
  if (sent > 0 && bytes == 0) begin_s = now - sent / rate;
  bytes += sent;
  credit -= sent;
  in_flight += sent;
}

void FlowChannel::Bursts::acknowledge(double acknowledged, double nothing) {
  round_left -= acknowledged;
  if (round_left < -nothing) {
    peak_in_flight = 0;
    round_left = in_flight - acknowledged;
  }
  peak_in_flight = std::max(peak_in_flight, in_flight);
  in_flight -= acknowledged;
}

void FlowChannel::Bursts::clear() {
  under_way.clear();
  bytes = in_flight = round_left = 0;
}

void FlowChannel::end_burst() {
  if (bursts_.bytes == 0) return;
  bursts_.under_way.push_back({bursts_.begin_s + facts_.rtt_s, bursts_.bytes});
  bursts_.bytes = 0;
}

// What a connection that signals may reach does besides.
void FlowChannel::follow(double elapsed_s, double sent, double now) {
  if (is_fluid())
    window_.flowed(elapsed_s, rate_, pipe(), fluid_.sent);
  else
    window_.passed(elapsed_s);
  reaction_->sent(sent, rate_, now);
  react(now);
  if (is_fluid()) watch_queue(now);
}

void FlowChannel::react(double now) {
  for (;;) {
    const double before = window();
    const auto kind = reaction_->take(now, is_fluid() ? queue_bytes() / rate_ : 0);
    if (kind != CongestionReaction::Kind::kNone) is_reduced_ = true;
    if (kind == CongestionReaction::Kind::kLost || kind == CongestionReaction::Kind::kTimedOut)
      last_sent_s_ = now;
    switch (kind) {
      case CongestionReaction::Kind::kNone:
        return;
      case CongestionReaction::Kind::kMarked:
        is_reducing_ = queue_.size() <= 1 && remaining_ <= queue_bytes() + nothing();
        window_.congested();
        break;
      case CongestionReaction::Kind::kLost:
        window_.congested();
        break;
      case CongestionReaction::Kind::kTimedOut:
        window_.timed_out();
        break;
    }
    if (is_fluid()) continue;
    bursts_.credit -= before - window();
    if (bursts_.credit <= nothing()) end_burst();
  }
}

double FlowChannel::queue_bytes() const {
  return std::min(remaining_, std::max(0., window() - pipe()));
}

// What a packet that leaves has waited for is the queue that it found. A window that covers the pipe stands
// in the queue with what it has more. Below that the queue is the burst's: where acknowledgements of A bytes
// release B, the packet at byte x came in with acknowledgement x A/B and has waited for x (1 − A/B), more and
// more until the burst ends; without acknowledgements (A = 0) all came in at once.
// CoDel looks when packets leave: half a packet later than the level is reached, and at the end of its
// interval once more.
void FlowChannel::watch_queue(double now) {
  const double level = reaction_->watched_level(rate_);
  if (is_fluid()) {
    const double found = window_.in_slow_start() ? 2 * level : level;
    if (queue_bytes() > level)
      reaction_->queue_above(now + (found + rules_.segment) / rate_, now + remaining_ / rate_);
    else
      reaction_->queue_below(now);
    return;
  }
  if (bursts_.bytes > 0) return;
  const double burst = std::min(remaining_, bursts_.credit), waiting = 1 - bursts_.released / bursts_.credit;
  if (waiting > 0 && level < burst * waiting)
    reaction_->queue_above(now + (level / waiting + rules_.segment) / rate_, now + burst / rate_);
}

void FlowChannel::take_acknowledgements(double now) {
  while (!bursts_.under_way.empty() && bursts_.under_way.front().acknowledged_s <= now + kSameMoment) {
    const double bytes = bursts_.under_way.front().bytes, before = window();
    bursts_.under_way.pop_front();
    bursts_.acknowledge(bytes, nothing());
    window_.acknowledged(bytes / rules_.connections, bursts_.peak_in_flight / rules_.connections);
    bursts_.credit += bytes + window() - before;
    bursts_.released = bytes;
  }
  if (remaining_ > nothing()) pace_rounds();
}

// The last packet of what was written is one more that may be lost, or follow one, however short it is.
void FlowChannel::end_segment(std::int64_t bytes, double now) {
  const double last = std::fmod(static_cast<double>(bytes), rules_.segment);
  if (last > 0) reaction_->sent(rules_.segment - last, kNoSignal, now);
}

FlowChannel::Transmission FlowChannel::pop(double now) {
  Transmission first = std::move(queue_.front());
  queue_.pop_front();
  if (reaction_ && queue_.empty()) end_segment(first.bytes, now);
  times_.end_first(first.parts);
  if (!queue_.empty()) {
    remaining_ = static_cast<double>(queue_.front().bytes);
  } else if (is_fluid()) {
    leave_fluid(now);
  }
  return first;
}

}  // namespace longhaul
