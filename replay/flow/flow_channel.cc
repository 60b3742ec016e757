#include "replay/flow/flow_channel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

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
  return {rules.segment,
          facts.window_limit,
          facts.rtt_s,
          rules.is_cubic,
          rules.is_linux,
          rules.link,
          rules.slow_start_after_idle,
          rules.has_linux_windows};
}

}  // namespace

FlowChannel::PathAlone::PathAlone(const ConnectionFacts& facts, const Rules& rules) {
  const int segment = static_cast<int>(rules.segment);
  ConnectionFacts unlimited = facts;
  unlimited.window_limit = std::numeric_limits<double>::infinity();
  links = alone_rate(unlimited, segment, rules.connections, rules.channels);
  rate = alone_rate(facts, segment, rules.connections, rules.channels);
  is_window_limited = std::isfinite(links) && rate < links * kCovers;
}

FlowChannel::FlowChannel(ConnectionFacts facts, const Rules& rules,
                         std::unique_ptr<CongestionReaction> reaction)
    : alone_(facts, rules),
      reaction_(std::move(reaction)),
      rules_(rules),
      facts_(std::move(facts)),
      window_(window_rules(facts_, rules)) {
  if ((reaction_ || rules_.is_bbr) && rules_.connections != 1)
    throw std::logic_error("with BBR, or where the network signals congestion, a channel is one connection");
  if (rules_.is_bbr) {
    bbr_ = std::make_unique<Bbr>(rules_.segment, facts_.rtt_s);
    state_ = State::kFluid;
  }
  clock_.credit = window();
}

double FlowChannel::rate_limit() const {
  if (bbr_) return std::min(bbr_->pacing(), facts_.window_limit / facts_.rtt_s);
  const bool may_burst = is_window_limited() && state_ != State::kPaced;
  return facts_.rtt_s > 0 && !may_burst ? facts_.window_limit * rules_.connections / facts_.rtt_s
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
  rest(now);
  if (bbr_) bbr_->begin(now);
  remaining_ = static_cast<double>(queue_.front().bytes);
  if (window_.idled(now - last_sent_s_)) is_reduced_ = false;
  if (is_reducing_) window_.hold_reduction();
  is_reducing_ = false;
  clock_.released = 0;
  if (clock_.is_idle()) clock_.credit = window();
  pace_rounds();
}

// Waiting with the largest window is what the path costs alone.
void FlowChannel::spend(double elapsed_s, SpentTime& spent) const {
  if (rate_ == 0) {
    spent.parts.waiting_s += elapsed_s;
  } else if (bbr_ && bbr_->is_starting()) {
    spent.parts.bytes_s += pace_ * elapsed_s;
    spent.parts.startup_s += (1 - pace_) * elapsed_s;
  } else if (may_send()) {
    spent.sending(elapsed_s, pace_ * elapsed_s, !is_fluid());
  } else {
    const bool is_at_limit = is_window_limited() && window_.is_at_limit() && !is_reduced_;
    spent.waiting(elapsed_s, is_at_limit   ? &SyncParts::bytes_s
                             : is_reduced_ ? &SyncParts::congestion_s
                                           : &SyncParts::startup_s);
  }
}

// Without data until now. Linux moves the cubic's epoch by idle time, ns-3 does not.
void FlowChannel::rest(double now) {
  take_acknowledgements(now);
  const bool is_epoch_moved = rules_.is_linux && clock_.is_idle();
  if (reaction_) react(is_epoch_moved ? 0 : now - updated_s_, 0, now);
  updated_s_ = now;
}

// A channel that waits for acknowledgements has a burst under way, so that one will come.
void FlowChannel::follow_path(const ConnectionFacts& present) {
  const double before = window();
  if (is_fluid() && !queue_.empty()) window_.timed(facts_.rtt_s);
  facts_.delay_s = present.delay_s;
  facts_.rtt_s = present.rtt_s;
  fluid_.covered = 0;
  facts_.bottleneck = present.bottleneck;
  facts_.ack_limit = present.ack_limit;
  facts_.window_limit = present.window_limit;
  window_.follow_path(present.rtt_s, present.window_limit);
  alone_ = PathAlone(facts_, rules_);
  pace_ = rate_ / (is_fluid() ? alone_.rate : alone_.links);
  under_way_ = nullptr;  // of another path
  if (bbr_) bbr_->follow_path(present.rtt_s);
  if (is_fluid()) return;
  clock_.credit += window() - before;
  if (clock_.credit <= nothing()) clock_.end_burst(facts_.rtt_s);
}

// An outage (a rate of 0) says nothing about the window: the channel waits as it is.
void FlowChannel::set_rate(double rate, double now) {
  if (rate == 0) {
    clock_.end_burst(facts_.rtt_s);
    rate_ = 0;
    return;
  }
  if (bbr_) {
    rate_ = rate;
    pace_ = rate_ / alone_.rate;
    return;
  }
  // The window of a fluid channel stays as it is where nothing signals: a smaller rate need not look at it.
  const bool is_known = is_fluid() && !reaction_ && rate <= fluid_.covered;
  const bool is_covered = is_known || window() >= rate * facts_.rtt_s * kCovers;
  if (is_covered && !is_known) fluid_.covered = rate;
  // What is on its way counts against a window that is no larger than the path.
  const bool may_be_fluid = !is_window_limited() || clock_.is_idle();
  if (is_covered && !is_fluid() && may_be_fluid) enter_fluid(State::kFluid);
  if (!is_covered && is_fluid()) leave_fluid(now);
  const bool is_paced_anew = rate != rate_ || is_window_limited();
  rate_ = rate;
  if (is_paced_anew) pace_ = rate_ / (is_fluid() ? alone_.rate : alone_.links);
  if (reaction_) watch_queue(now);
}

void FlowChannel::enter_fluid(State state) {
  state_ = state;
  const bool is_under_way = is_window_limited() && last_sent_s_ == updated_s_;
  // On Linux what the bursts have under way makes the window grow too; with a reaction it does as it comes.
  const bool counts_bursts = rules_.has_linux_windows && !is_window_limited() && !reaction_;
  fluid_.sent = is_under_way ? clock_.released : counts_bursts ? clock_.in_flight : 0;
  times_.spent.excess_s = 0;
  clock_.clear();
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
  clock_.go_on(window(), std::min(pipe, fluid_.sent), now, is_window_limited() ? facts_.rtt_s : 0);
}

// Before a window leaves, when nothing is under way; or between two bursts of a window that is: while there
// is data, the state after a round trip is that before it, whatever is under way.
void FlowChannel::pace_rounds() {
  if (!is_window_limited() || is_fluid() || !window_.is_at_limit() || clock_.bytes > 0) return;
  const bool is_idle = clock_.is_idle();
  if (is_idle ? clock_.credit < window() * kCovers : reaction_ != nullptr) return;
  const double rounds = std::floor(remaining_ / window()) - kLastRounds;
  if (rounds < kFewRounds) return;
  fluid_.covered = 0;  // of another window
  if (!is_idle) {
    under_way_ = std::make_unique<UnderWay>();
    under_way_->since_s = updated_s_;
    std::swap(under_way_->clock, clock_);
  }
  enter_fluid(State::kPaced);
  fluid_.paced_until = remaining_ - rounds * window();
}

// The next window may leave, as before the first of these rounds; unless the links did not let a window
// through in each of them, so that data is under way.
void FlowChannel::end_pacing(double now) {
  const bool is_under_way = rate_ < rate_limit() * kCovers;
  const std::unique_ptr<UnderWay> before = std::move(under_way_);
  if (before && !is_under_way) {
    state_ = State::kBursts;
    std::swap(clock_, before->clock);
    clock_.rebase_time(before->since_s - now);
    return;
  }
  state_ = State::kFluid;
  if (reaction_)
    reaction_->queue_below(now);
  else
    window_.acknowledged(fluid_.sent / rules_.connections, window_.bytes(), rate_ / rules_.connections);
  if (is_under_way) return leave_fluid(now);
  state_ = State::kBursts;
  clock_.credit = window();
}

double FlowChannel::wait_s(double now) const {
  if (queue_.empty())
    return reaction_ && reaction_->lost() > reaction_->repaired() ? reaction_->next_s() - now : kNoSignal;
  if (bbr_) {
    if (rate_ == 0 && may_send()) return kNoSignal;
    double next_s = bbr_->wait_s(rate_, now);
    if (may_send()) next_s = std::min(next_s, std::max(0., remaining_ / rate_));
    if (!reaction_) return next_s;
    const double to_loss_s = may_send() ? reaction_->bytes_to_loss() / rate_ : kNoSignal;
    return std::min(next_s, std::max(kShortest_s, std::min(to_loss_s, reaction_->next_s() - now)));
  }
  if (!may_send()) {
    const double acknowledged_s = clock_.under_way.front().acknowledged_s;
    return (reaction_ ? std::min(acknowledged_s, reaction_->next_s()) : acknowledged_s) - now;
  }
  const double left = state_ == State::kPaced   ? remaining_ - fluid_.paced_until
                      : state_ == State::kFluid ? remaining_
                                                : std::min(remaining_, clock_.credit);
  const double sent_s = std::max(0., left / rate_);
  if (!reaction_) return sent_s;
  double signal_s = std::min(reaction_->next_s() - updated_s_, reaction_->bytes_to_loss() / rate_);
  // Or the queue of a fluid channel comes above the level that its network watches.
  const double level = pipe() + reaction_->watched_level(rate_);
  if (is_fluid() && window_.bytes() < level && level <= facts_.window_limit)
    signal_s = std::min(signal_s, window_.time_to(level * (1 + kBeyond), rate_, pipe(), fluid_.sent));
  return std::min(sent_s, std::max(kShortest_s, signal_s));
}

void FlowChannel::advance(double now) {
  const double elapsed_s = now - updated_s_;
  if (queue_.empty()) return rest(now);
  double sent = may_send() ? std::min(remaining_, rate_ * elapsed_s) : 0;
  if (bbr_) sent = std::min(sent, bbr_->credit());
  spend(elapsed_s, times_.spent);
  updated_s_ = now;
  remaining_ -= sent;
  if (sent > 0) last_sent_s_ = now;
  if (bbr_) bbr_->advance(sent, rate_, now);
  if (is_fluid()) {
    fluid_.sent += sent;
    if (reaction_) react(elapsed_s, sent, now);
    if (state_ == State::kPaced && remaining_ <= fluid_.paced_until + nothing()) end_pacing(now);
    return;
  }
  clock_.send(sent, rate_, now);
  note_limit();
  if (clock_.credit <= nothing() || remaining_ <= nothing()) clock_.end_burst(facts_.rtt_s);
  take_acknowledgements(now);
  if (reaction_) react(elapsed_s, sent, now);
}

// What a connection that signals may reach does besides.
void FlowChannel::react(double elapsed_s, double sent, double now) {
  using Kind = CongestionReaction::Kind;
  if (is_fluid())
    window_.flowed(elapsed_s, rate_, pipe(), fluid_.sent);
  else
    window_.passed(elapsed_s);
  reaction_->sent(sent, rate_, now);
  const int repaired = reaction_->repaired();
  for (;;) {
    const double before = window();
    const Kind kind = reaction_->take(now, is_fluid() ? queue_bytes() / rate_ : 0);
    if (kind == Kind::kNone) break;
    is_reduced_ = true;
    if (kind == Kind::kMarked)
      is_reducing_ = queue_.size() <= 1 && remaining_ <= queue_bytes() + nothing();
    else
      last_sent_s_ = now;
    kind == Kind::kTimedOut ? window_.timed_out() : window_.congested();
    if (is_fluid()) continue;
    clock_.credit -= before - window();
    if (clock_.credit <= nothing()) clock_.end_burst(facts_.rtt_s);
  }
  if (bbr_ && !queue_.empty()) remaining_ += (reaction_->repaired() - repaired) * rules_.segment;
  if (is_fluid()) watch_queue(now);
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
  if (clock_.bytes > 0) return;
  const double burst = std::min(remaining_, clock_.credit), waiting = 1 - clock_.released / clock_.credit;
  if (waiting > 0 && level < burst * waiting)
    reaction_->queue_above(now + (level / waiting + rules_.segment) / rate_, now + burst / rate_);
}

void FlowChannel::take_acknowledgements(double now) {
  while (!clock_.under_way.empty() && clock_.under_way.front().acknowledged_s <= now + kSameMoment) {
    const bool was_limited = rules_.has_linux_windows && clock_.under_way.front().is_limited;
    if (const double rtt_s = clock_.under_way.front().rtt_s; rtt_s > 0) window_.timed(rtt_s);
    note_limit();
    const double before = window(), bytes = clock_.acknowledge(nothing());
    const double peak = was_limited ? std::numeric_limits<double>::infinity() : clock_.peak_in_flight;
    window_.acknowledged(bytes / rules_.connections, peak / rules_.connections, rate_ / rules_.connections);
    clock_.credit += bytes + window() - before;
  }
  if (remaining_ > nothing()) pace_rounds();
}

// By the congestion window, not by a buffer.
void FlowChannel::note_limit() {
  clock_.is_limited = clock_.is_limited || (clock_.credit <= nothing() && !window_.is_at_limit());
}

void FlowChannel::rebase_time(double by_s) {
  updated_s_ -= by_s;
  last_sent_s_ -= by_s;
  clock_.rebase_time(by_s);
  if (!under_way_) return;
  under_way_->since_s -= by_s;
  under_way_->clock.rebase_time(by_s);
}

void FlowChannel::list_state(std::vector<double>& state) const {
  state.insert(state.end(), {remaining_, rate_, updated_s_, last_sent_s_, alone_.rate, alone_.links, pace_,
                             fluid_.sent, fluid_.covered, fluid_.paced_until, static_cast<double>(state_),
                             static_cast<double>(is_reduced_)});
  window_.list_state(state);
  clock_.list_state(state);
  if (!under_way_) return;
  state.push_back(under_way_->since_s);
  under_way_->clock.list_state(state);
}

FlowChannel::Transmission FlowChannel::pop(double now) {
  Transmission first = std::move(queue_.front());
  queue_.pop_front();
  times_.end_first(first.parts);
  if (!queue_.empty()) {
    remaining_ = static_cast<double>(queue_.front().bytes);
    return first;
  }
  // The last packet of what was written is one more that may be lost, or follow one, however short it is.
  if (reaction_)
    if (const double last = std::fmod(static_cast<double>(first.bytes), rules_.segment); last > 0)
      reaction_->sent(rules_.segment - last, kNoSignal, now);
  if (is_fluid() && !bbr_) leave_fluid(now);
  return first;
}

}  // namespace longhaul
