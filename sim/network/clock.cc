#include "sim/network/clock.h"

#include <ns3/event-impl.h>
#include <ns3/simulator.h>

#include <cmath>

namespace longhaul {

std::int64_t now_ns() {
  return ns3::Simulator::Now().GetNanoSeconds();
}

double now_s() {
  return static_cast<double>(now_ns()) / 1e9;
}

double seconds_between(double earlier_s, double later_s) {
  return std::round((later_s - earlier_s) * 1e9) / 1e9;
}

void after(double delay_s, std::function<void()> action) {
  after_ns(std::llround(delay_s * 1e9), std::move(action));
}

void after_ns(std::int64_t delay_ns, std::function<void()> action) {
  ns3::Simulator::Schedule(ns3::NanoSeconds(delay_ns), std::move(action));
}

struct Alarm::Bell {
  class Event : public ns3::EventImpl {
   public:
    explicit Event(std::function<void()> action) : action_(std::move(action)) {}

   private:
    void Notify() override { action_(); }
    std::function<void()> action_;
  };

  ns3::Ptr<ns3::EventImpl> event;
};

Alarm::Alarm(std::function<void()> action) : bell_(new Bell{ns3::Create<Bell::Event>(std::move(action))}) {}

Alarm::~Alarm() = default;

void Alarm::set_after_ns(std::int64_t delay_ns) {
  ns3::Simulator::Schedule(ns3::NanoSeconds(delay_ns), bell_->event);
}

SimulationScope::~SimulationScope() {
  ns3::Simulator::Destroy();
}

}  // namespace longhaul
