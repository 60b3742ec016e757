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

double TcpWindow::initial() const { return std::min(rules_.limit, kInitialWindowSegments * rules_.segment); }

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
    if (2 * peak_in_flight >= kNearlyAll * window_)
      window_ = std::min({window_ + bytes, std::max(threshold_, window_), rules_.limit});
    begin_epoch_if_left();
    return;
  }
  if (peak_in_flight < kNearlyAll * window_) return;
  const double rounds = bytes / window_;
  window_ = std::min(window_ + rounds * growth_per_round(), rules_.limit);
  epoch_s_ += rounds * rules_.rtt_s;
}

void TcpWindow::filled_pipe(double bytes, double pipe) {
  if (!in_slow_start() || 2 * std::min(bytes, pipe) < kNearlyAll * window_) return;
  const double room = rules_.is_cubic ? std::min(bytes, pipe) : bytes;
  window_ = std::min({window_ + room, threshold_, rules_.limit});
  if (rules_.is_cubic && bytes >= pipe) threshold_ = window_;
  begin_epoch_if_left();
}

void TcpWindow::idled(double idle_s) {
  const double restart_s = restart_after_s(rules_.rtt_s);
  if (idle_s <= restart_s) return;
  if (!in_slow_start()) threshold_ = std::max(threshold_, 0.75 * window_);
  const double halvings = std::floor(idle_s / restart_s);
  window_ = std::max(std::min(window_, initial()), std::ldexp(window_, -static_cast<int>(std::min(halvings, 60.))));
}

}  // namespace longhaul
