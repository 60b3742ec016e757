// Simulated time on ns-3's simulator, which is one global object with a resolution of a nanosecond. This is
// the only place that turns its clock into seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "replay/flow/flow_clock.h"

namespace longhaul {

// The simulator as a replay sees it. close() destroys the simulation, so that another one can be made.
class SimulatorClock : public FlowClock {
 public:
  std::int64_t now_ns() const override;
  void after_ns(std::int64_t delay_ns, std::function<void()> action) override;
  void run() override;
  void stop() override;
  void close() override;
  std::uint64_t events() const override;

  void carry(std::function<void()> wake) override;
  void set_alarm_ns(std::int64_t delay_ns) override;
  bool has_actions() const override { return scheduled_ > 0; }
  void skip_events(std::uint64_t events) override { skipped_ += events; }

 private:
  struct Bell;

  std::shared_ptr<Bell> bell_;
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

}  // namespace longhaul
