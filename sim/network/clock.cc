#include "sim/network/clock.h"

#include <ns3/event-impl.h>
#include <ns3/simulator.h>

#include <utility>

namespace longhaul {
namespace {

class Event : public ns3::EventImpl {
 public:
  explicit Event(std::function<void()> action) : action_(std::move(action)) {}

 private:
  void Notify() override { action_(); }
  std::function<void()> action_;
};

}  // namespace

void SimulatorClock::after_ns(std::int64_t delay_ns, std::function<void()> action) {
  time_after(now_ns(), delay_ns);
  ++scheduled_;
  const auto run = [this, action = std::move(action)] {
    --scheduled_;
    begin_action();
    action();
  };
  ns3::Simulator::Schedule(ns3::NanoSeconds(static_cast<std::uint64_t>(delay_ns)), ns3::Create<Event>(run));
}

std::int64_t SimulatorClock::now_ns() const {
  return longhaul::now_ns();
}

void SimulatorClock::run() {
  ns3::Simulator::Run();
}

void SimulatorClock::stop() {
  ns3::Simulator::Stop();
}

void SimulatorClock::close() {
  ns3::Simulator::Destroy();
  scheduled_ = 0;
  skipped_ = 0;
}

std::uint64_t SimulatorClock::events() const {
  return ns3::Simulator::GetEventCount() + skipped_;
}

// One event for all alarms.
struct SimulatorClock::Bell {
  ns3::Ptr<ns3::EventImpl> event;
};

void SimulatorClock::carry(std::function<void()> wake) {
  bell_ = std::make_shared<Bell>(Bell{ns3::Create<Event>(std::move(wake))});
}

void SimulatorClock::set_alarm_ns(std::int64_t delay_ns) {
  time_after(now_ns(), delay_ns);
  ns3::Simulator::Schedule(ns3::NanoSeconds(static_cast<std::uint64_t>(delay_ns)), bell_->event);
}

SimulatorClock& simulator_clock() {
  static SimulatorClock clock;
  return clock;
}

std::int64_t now_ns() {
  return ns3::Simulator::Now().GetNanoSeconds();
}

double now_s() {
  return seconds_of(now_ns());
}

void after(double delay_s, std::function<void()> action) {
  simulator_clock().after(delay_s, std::move(action));
}

}  // namespace longhaul
