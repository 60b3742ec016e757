#include "emulation/real_clock.h"

#include <poll.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <vector>

#include "core/base/child_main.h"
#include "core/base/errors.h"

namespace longhaul {

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

void be_first(int priority) {
  sched_param parameters{};
  parameters.sched_priority = priority;
  sched_setscheduler(0, SCHED_RR, &parameters);
}

void RealClock::begin() {
  start_ns_ = monotonic_ns();
}

void RealClock::look_at_time() {
  now_ns_ = monotonic_ns() - start_ns_;
}

void RealClock::after_ns(std::int64_t delay_ns, std::function<void()> action) {
  events_.emplace(now_ns_ + std::max<std::int64_t>(0, delay_ns), std::move(action));
}

bool RealClock::read_inputs() {
  constexpr std::int64_t kLongest_ns = 100000000;  // between two looks at signals
  std::vector<pollfd> polled;
  for (const auto& [descriptor, on_input] : inputs_) polled.push_back({descriptor, POLLIN, 0});
  const std::int64_t left_ns = events_.empty() ? kLongest_ns : events_.begin()->first - now_ns_;
  const timespec timeout{0, std::clamp<std::int64_t>(left_ns, 0, kLongest_ns)};
  const int readable = ppoll(polled.data(), polled.size(), &timeout, nullptr);
  look_at_time();
  if (readable <= 0) return false;
  for (const pollfd& one : polled)
    if (one.revents != 0 && !is_stopped_) inputs_.at(one.fd)();
  return true;
}

void RealClock::run() {
  look_at_time();
  std::int64_t moved_ns = now_ns_;
  while (!is_stopped_ && (!events_.empty() || awaited_ > 0)) {
    check_interrupt();
    if (read_inputs()) moved_ns = now_ns_;
    while (!is_stopped_ && !events_.empty() && events_.begin()->first <= now_ns_) {
      const auto action = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      moved_ns = now_ns_;
      begin_action();
      action();
    }
    if (awaited_ > 0 && static_cast<double>(now_ns_ - moved_ns) > 1e9 * kStalledAfter_s)
      throw RunError("stalled: no message arrived for two minutes");
  }
}

}  // namespace longhaul
