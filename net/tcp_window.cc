#include "net/tcp_window.h"

#include <algorithm>
#include <cmath>

#include "net/connection.h"

namespace longhaul {
namespace {

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

double TcpWindow::growth_per_round() const {
  if (!rules_.is_cubic) return rules_.segment;
  const double t = epoch_s_ + rules_.rtt_s;
  const double target = epoch_window_ + kCubicC * t * t * t * rules_.segment;
  return std::clamp(target - window_, window_ / 20, window_ / 2);
}

void TcpWindow::begin_epoch_if_left() {
  if (in_slow_start()) return;
  epoch_s_ = 0;
  epoch_window_ = window_;
}

void TcpWindow::acknowledged(double bytes, double peak_in_flight) {
  if (in_slow_start()) {
    window_ = std::min({window_ + bytes, threshold_, std::max(window_, 2 * peak_in_flight)});
    begin_epoch_if_left();
    return;
  }
  if (peak_in_flight < kNearlyAll * window_) return;
  const double rounds = bytes / window_;
  window_ += rounds * growth_per_round();
  epoch_s_ += rounds * rules_.rtt_s;
}

// The sender's buffer is full then: besides the pipe, its own queue holds data that counts as in flight.
void TcpWindow::filled_pipe(double sent, double pipe) {
  const double in_flight = std::min(sent, bytes());
  if (!in_slow_start() || 2 * in_flight < kNearlyAll * window_) return;
  const double room = rules_.is_cubic ? std::min(sent, pipe) : sent;
  window_ = std::min({window_ + room, threshold_, std::max(window_, 2 * rules_.limit)});
  if (rules_.is_cubic && sent >= pipe) threshold_ = window_;
  begin_epoch_if_left();
}

void TcpWindow::follow_path(double rtt_s, double limit) {
  rules_.rtt_s = rtt_s;
  rules_.limit = limit;
}

void TcpWindow::idled(double idle_s) {
  const double kept = window_kept_after_idle(idle_s, rules_.rtt_s);
  if (kept == 1) return;
  if (!in_slow_start()) threshold_ = std::max(threshold_, 0.75 * window_);
  window_ = std::max(std::min(window_, initial()), window_ * kept);
}

}  // namespace longhaul
