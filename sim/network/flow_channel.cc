#include "sim/network/flow_channel.h"

#include <algorithm>
#include <limits>

namespace longhaul {
namespace {

// A window that covers the pipe up to rounding is one that covers it.
constexpr double kCovers = 1 - 1e-9;

WindowRules window_rules(const ConnectionFacts& facts, const FlowChannel::Rules& rules) {
  return {rules.segment, facts.window_limit, facts.rtt_s, rules.is_cubic};
}

}  // namespace

FlowChannel::FlowChannel(ConnectionFacts facts, const Rules& rules)
    : facts_(std::move(facts)), rules_(rules), window_(window_rules(facts_, rules)) {
  credit_ = window();
}

double FlowChannel::rate_limit() const {
  return facts_.rtt_s > 0 ? facts_.window_limit * rules_.connections / facts_.rtt_s
                          : std::numeric_limits<double>::infinity();
}

void FlowChannel::push(Transfer transfer, double now) {
  queue_.push_back(std::move(transfer));
  if (queue_.size() == 1) start(now);
}

void FlowChannel::start(double now) {
  take_acknowledgements(now);
  remaining_ = static_cast<double>(queue_.front().bytes);
  window_.idled(now - last_sent_s_);
  if (bursts_.empty() && burst_bytes_ == 0) credit_ = window();
  updated_s_ = now;
}

// Whoever is waiting for acknowledgements has a burst under way, so that one will come.
void FlowChannel::follow_path(const ConnectionFacts& present) {
  const double before = window();
  facts_.delay_s = present.delay_s;
  facts_.rtt_s = present.rtt_s;
  facts_.bottleneck = present.bottleneck;
  facts_.ack_limit = present.ack_limit;
  facts_.window_limit = present.window_limit;
  window_.follow_path(present.rtt_s, present.window_limit);
  if (is_fluid_) return;
  credit_ += window() - before;
  if (credit_ <= nothing()) end_burst();
}

// An outage (a rate of 0) says nothing about the window: the channel waits as it is.
void FlowChannel::set_rate(double rate, double now) {
  if (rate == 0) {
    end_burst();
    rate_ = 0;
    return;
  }
  const bool covers = window() >= rate * facts_.rtt_s * kCovers;
  if (covers && !is_fluid_) enter_fluid();
  if (!covers && is_fluid_) leave_fluid(now);
  rate_ = rate;
}

void FlowChannel::enter_fluid() {
  is_fluid_ = true;
  sent_in_fluid_ = 0;
  bursts_.clear();
  burst_bytes_ = in_flight_ = peak_in_flight_ = 0;
}

// What fills the pipe keeps being acknowledged, from now on and over one round trip.
void FlowChannel::leave_fluid(double now) {
  is_fluid_ = false;
  const double pipe = std::min(rate_ * facts_.rtt_s, window());
  window_.filled_pipe(sent_in_fluid_ / rules_.connections, pipe / rules_.connections);
  const double in_flight = std::min(pipe, sent_in_fluid_);
  credit_ = window() - in_flight;
  in_flight_ = peak_in_flight_ = in_flight;
  if (in_flight > 0) bursts_.push_back({now, in_flight});
}

double FlowChannel::next_change_s() const {
  const double next = is_fluid_ ? remaining_ : std::min(remaining_, credit_);
  return std::max(0., next / rate_);
}

void FlowChannel::advance(double now) {
  const double sent = may_send() ? std::min(remaining_, rate_ * (now - updated_s_)) : 0;
  updated_s_ = now;
  remaining_ -= sent;
  if (sent > 0) last_sent_s_ = now;
  if (is_fluid_) {
    sent_in_fluid_ += sent;
    return;
  }
  if (sent > 0 && burst_bytes_ == 0) burst_begin_s_ = now - sent / rate_;
  burst_bytes_ += sent;
  credit_ -= sent;
  in_flight_ += sent;
  peak_in_flight_ = std::max(peak_in_flight_, in_flight_);
  const bool is_burst_over = credit_ <= nothing() || is_first_sent();
  if (is_burst_over) end_burst();
  take_acknowledgements(now);
}

void FlowChannel::end_burst() {
  if (burst_bytes_ == 0) return;
  bursts_.push_back({burst_begin_s_ + facts_.rtt_s, burst_bytes_});
  burst_bytes_ = 0;
}

void FlowChannel::take_acknowledgements(double now) {
  constexpr double kSameInstant = 1e-9;
  while (!bursts_.empty() && bursts_.front().acknowledged_s <= now + kSameInstant) {
    const double bytes = bursts_.front().bytes, before = window();
    bursts_.pop_front();
    window_.acknowledged(bytes / rules_.connections, peak_in_flight_ / rules_.connections);
    in_flight_ -= bytes;
    peak_in_flight_ = in_flight_;
    credit_ += bytes + window() - before;
  }
}

FlowChannel::Transfer FlowChannel::pop(double now) {
  Transfer first = std::move(queue_.front());
  queue_.pop_front();
  if (!queue_.empty()) {
    remaining_ = static_cast<double>(queue_.front().bytes);
  } else if (is_fluid_) {
    leave_fluid(now);
  }
  return first;
}

}  // namespace longhaul
