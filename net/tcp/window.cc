#include "net/tcp/window.h"

#include <algorithm>
#include <cmath>

#include "net/tcp/connection.h"

namespace longhaul {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kCubicC = 0.4;  // RFC 8312, segments / s³

// Windows below the limit by rounding alone count as used up.
constexpr double kNearlyAll = 0.95;

}  // namespace

TcpWindow::TcpWindow(const WindowRules& rules) : rules_(rules), window_(initial()) {}

double TcpWindow::initial() const {
  return kInitialWindowSegments * rules_.segment;
}

double TcpWindow::bytes() const {
  return std::min(window_, rules_.limit);
}

// C (t − K)³ + the origin, bytes.
double TcpWindow::curve(double epoch_s) const {
  const double from_origin_s = epoch_s - k_s_;
  const double cubic =
      epoch_window_ + kCubicC * from_origin_s * from_origin_s * from_origin_s * rules_.segment;
  return std::max(cubic, reduced_ + friendly_slope() * epoch_s);
}

double TcpWindow::friendly_slope() const {
  if (!rules_.is_reno_friendly || !had_signal()) return 0;
  return 3 * (1 - beta()) / (1 + beta()) * rules_.segment / rules_.rtt_s;
}

double TcpWindow::growth_per_round() const {
  if (epoch_s_ < 0) return 0;
  if (!rules_.is_cubic) return rules_.segment;
  if (had_signal()) return std::clamp(curve(epoch_s_ + rules_.rtt_s) - window_, 0., window_ / 2);
  const double t = epoch_s_ + rules_.rtt_s;
  const double target = epoch_window_ + kCubicC * t * t * t * rules_.segment;
  return std::clamp(target - window_, window_ / 20, window_ / 2);
}

void TcpWindow::begin_epoch_if_left() {
  if (in_slow_start() || had_signal()) return;
  epoch_s_ = 0;
  epoch_window_ = window_;
}

void TcpWindow::acknowledged(double bytes, double peak_in_flight, double rate) {
  if (is_reducing_) {
    is_reducing_ = false;
    window_ = std::max(window_, threshold_);
    return;
  }
  if (in_slow_start()) return grow_in_slow_start(bytes, 2 * peak_in_flight, until_hystart(rate));
  if (peak_in_flight < kNearlyAll * window_) return;
  const double rounds = bytes / window_;
  window_ += rounds * growth_per_round();
  if (!had_signal()) epoch_s_ += rounds * rules_.rtt_s;
}

// The sender's buffer is full then: besides the pipe, its own queue holds data that counts as in flight.
void TcpWindow::filled_pipe(double sent, double pipe) {
  const double in_flight = std::min(sent, bytes());
  if (!in_slow_start() || 2 * in_flight < kNearlyAll * window_) return;
  const double until_exit = rules_.has_linux_windows ? until_hystart(pipe / rules_.rtt_s)
                            : rules_.is_cubic        ? pipe
                                                     : kNever;
  grow_in_slow_start(sent, 2 * rules_.limit, until_exit);
}

// HyStart ends it with what the first `until_exit` bytes have made of it.
void TcpWindow::grow_in_slow_start(double bytes, double most, double until_exit) {
  window_ = std::min({window_ + std::min(bytes, until_exit), threshold_, std::max(window_, most)});
  if (bytes >= until_exit) threshold_ = window_;
  begin_epoch_if_left();
}

// Linux leaves slow start, once, in the first round trip whose acknowledgements come for longer than half of
// one, at that moment (tcp_cubic.c, hystart_update, without pacing). ns-3 and the paper take a whole one.
double TcpWindow::hystart_train(double rate, double pipe) const {
  if (!rules_.is_cubic || !has_ack_train(rate)) return kNever;
  if (!rules_.has_linux_windows) return pipe;
  return threshold_ == kNever ? pipe / 2 : kNever;
}

double TcpWindow::until_hystart(double rate) const {
  return rules_.has_linux_windows ? hystart_train(rate, rate * rules_.rtt_s) : kNever;
}

// Linux leaves slow start too, once and from 16 segments on, when the first eight acknowledgements of a round
// trip all come an eighth of the shortest one late, which counts as 4 ms at least and 16 at most
// (tcp_cubic.c, HYSTART_DELAY).
void TcpWindow::timed(double round_trip_s) {
  constexpr double kLeastLate_s = 0.004, kMostLate_s = 0.016, kLateShare = 1 / 8.;
  constexpr int kSamples = 8, kSegmentsOfASample = 2, kLowWindow = 16;
  least_rtt_s_ = std::min(least_rtt_s_, round_trip_s);
  if (!rules_.has_linux_windows || !rules_.is_cubic || threshold_ != kNever) return;
  const double late_s = std::clamp(kLateShare * least_rtt_s_, kLeastLate_s, kMostLate_s);
  if (round_trip_s <= least_rtt_s_ + late_s || window_ < kLowWindow * rules_.segment) return;
  threshold_ = window_ + kSamples * kSegmentsOfASample * rules_.segment;
}

void TcpWindow::follow_path(double rtt_s, double limit) {
  rules_.rtt_s = rtt_s;
  rules_.limit = limit;
}

bool TcpWindow::idled(double idle_s) {
  if (!rules_.slow_start_after_idle) return false;
  const double kept = rules_.has_linux_windows ? window_kept_after_idle(idle_s, rules_.rtt_s)
                                               : smooth_window_kept_after_idle(idle_s, rules_.rtt_s);
  if (kept == 1) return false;
  if (!in_slow_start()) threshold_ = std::max(threshold_, 0.75 * window_);
  window_ = std::max(std::min(window_, initial()), window_ * kept);
  return true;
}

// HyStart's train of acknowledgements breaks where they come more than 2 ms apart: two segments at the
// connection's rate, and one of the other direction's in the way.
bool TcpWindow::has_ack_train(double rate) const {
  constexpr double kTrain_s = 0.002;
  return rules_.segment * (2 / rate + 1 / rules_.link) <= kTrain_s;
}

double TcpWindow::largest_in_slow_start() const {
  return std::min(threshold_, std::max(window_, 2 * rules_.limit));
}

void TcpWindow::flowed(double elapsed_s, double rate, double pipe, double sent) {
  const double acknowledged = rate * elapsed_s;
  if (in_slow_start()) {
    window_ = std::min(window_ + acknowledged, largest_in_slow_start());
    if (sent >= hystart_train(rate, pipe)) threshold_ = window_;
    if (had_signal()) passed(elapsed_s);
    return begin_epoch_if_left();
  }
  const double before_s = epoch_s_;
  epoch_s_ += elapsed_s;
  if (epoch_s_ <= 0) return;
  const double grown_s = epoch_s_ - std::max(0., before_s), fed = rate * grown_s;
  const double most = std::max(window_, rules_.limit / kNearlyAll);
  const double target =
      rules_.is_cubic ? curve(epoch_s_) : std::sqrt(window_ * window_ + 2 * rules_.segment * fed);
  const double least = rules_.is_cubic && !had_signal() ? fed / 20 : 0;
  window_ = std::min(window_ + std::clamp(target - window_, least, fed / 2), most);
}

double TcpWindow::time_to(double level, double rate, double pipe, double sent) const {
  if (level <= window_) return 0;
  if (in_slow_start()) {
    const double until_exit = std::max(0., hystart_train(rate, pipe) - sent);
    const double room = largest_in_slow_start() - window_;
    return room > 0 ? std::min({level - window_, room, until_exit}) / rate : until_exit / rate;
  }
  if (epoch_s_ < 0) return -epoch_s_;
  if (level > std::max(window_, rules_.limit / kNearlyAll)) return kNever;
  const double missing = level - window_;
  if (!rules_.is_cubic) return (level * level - window_ * window_) / (2 * rules_.segment * rate);
  const double along = k_s_ + std::cbrt((level - epoch_window_) / (kCubicC * rules_.segment)) - epoch_s_;
  const double beside = friendly_slope() > 0 ? (level - reduced_) / friendly_slope() - epoch_s_ : kNever;
  const double fastest = 2 * missing / rate, slowest = had_signal() ? kNever : 20 * missing / rate;
  return std::clamp(std::min(along, beside), fastest, slowest);
}

void TcpWindow::passed(double elapsed_s) {
  if (had_signal()) epoch_s_ += elapsed_s;
}

void TcpWindow::congested() {
  const bool is_below_the_last = window_ < largest_;
  largest_ = is_below_the_last ? window_ * (1 + beta()) / 2 : window_;
  window_ = std::max(2 * rules_.segment, beta() * window_);
  threshold_ = reduced_ = window_;
  epoch_s_ = -rules_.rtt_s;
  epoch_window_ = std::max(largest_, window_);
  k_s_ = std::cbrt((epoch_window_ - window_) / (kCubicC * rules_.segment));
}

void TcpWindow::timed_out() {
  threshold_ = std::max(2 * rules_.segment, beta() * window_);
  window_ = rules_.segment;
  largest_ = k_s_ = epoch_s_ = reduced_ = 0;
}

}  // namespace longhaul
