// Simulated time. ns-3's simulator is one global object with a resolution of a nanosecond; this is the only
// place that turns its clock into seconds.
#pragma once

#include <cstdint>
#include <functional>

namespace longhaul {

// Seconds since the simulator's own zero.
double now_s();
std::int64_t now_ns();

// later − earlier of two values of now_s(), on whole nanoseconds again.
double seconds_between(double earlier_s, double later_s);

// Runs `action` after `delay_s` (≥ 0, rounded to nanoseconds); actions of the same instant run in the order
// of their scheduling.
void after(double delay_s, std::function<void()> action);
void after_ns(std::int64_t delay_ns, std::function<void()> action);

// Destroys the simulation when it goes out of scope, so that another one can be made in the same process.
// Whatever ns-3's last events may call must outlive it.
class SimulationScope {
 public:
  SimulationScope() = default;
  ~SimulationScope();
  SimulationScope(const SimulationScope&) = delete;
  SimulationScope& operator=(const SimulationScope&) = delete;
};

}  // namespace longhaul
