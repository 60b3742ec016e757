// Simulated time: what a replay and the networks under it run on. Nanoseconds, since the clock's own zero.
//
// `packet` and `flow` have ns-3's simulator (sim/network/clock.h), `analytic` a queue of its own
// (event_queue.h).
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>

namespace longhaul {

class Clock {
 public:
  virtual ~Clock() = default;

  virtual std::int64_t now_ns() const = 0;
  // Runs `action` after `delay_ns` (≥ 0). Actions of the same instant run in the order of their scheduling.
  virtual void after_ns(std::int64_t delay_ns, std::function<void()> action) = 0;

  // Runs what is scheduled, and what that schedules, until nothing is left or stop() was called. What an
  // action throws comes out of it.
  virtual void run() = 0;
  virtual void stop() = 0;
  // After run(): no action runs any more. What is still scheduled is dropped.
  virtual void close() = 0;
  // So far, as far as they are events of a simulator: 0 for a clock that is none.
  virtual std::uint64_t events() const = 0;

  double now_s() const { return static_cast<double>(now_ns()) / 1e9; }
  void after(double delay_s, std::function<void()> action) {
    after_ns(std::llround(delay_s * 1e9), std::move(action));
  }
};

// later − earlier of two values of now_s(), on whole nanoseconds again.
inline double seconds_between(double earlier_s, double later_s) {
  return std::round((later_s - earlier_s) * 1e9) / 1e9;
}

}  // namespace longhaul
