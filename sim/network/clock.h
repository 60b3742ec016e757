// Simulated time on ns-3's simulator, which is one global object with a resolution of a nanosecond. This is
// the only place that turns its clock into seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "replay/network/clock.h"

namespace longhaul {

// The simulator as a replay sees it. close() destroys the simulation, so that another one can be made.
class SimulatorClock : public Clock {
 public:
  std::int64_t now_ns() const override;
  void after_ns(std::int64_t delay_ns, std::function<void()> action) override;
  void run() override;
  void stop() override;
  void close() override;
  std::uint64_t events() const override;

  bool has_actions() const { return scheduled_ > 0; }             // still to be run
  void skip_events(std::uint64_t events) { skipped_ += events; }  // that need not be simulated: they count

 private:
  std::int64_t scheduled_ = 0;
  std::uint64_t skipped_ = 0;
};
SimulatorClock& simulator_clock();

// Seconds since the simulator's own zero.
double now_s();
std::int64_t now_ns();

// Runs `action` after `delay_s` (≥ 0, rounded to nanoseconds); actions of the same instant run in the order
// of their scheduling.
void after(double delay_s, std::function<void()> action);

// An action that is set for one time after another: setting it makes no event of its own, which counts where
// there are millions. Set again before it rang, it rings at both times.
class Alarm {
 public:
  explicit Alarm(std::function<void()> action);
  ~Alarm();
  void set_after_ns(std::int64_t delay_ns);

 private:
  struct Bell;
  std::unique_ptr<Bell> bell_;
};

}  // namespace longhaul
