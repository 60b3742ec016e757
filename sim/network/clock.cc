#include "sim/network/clock.h"

#include <ns3/event-impl.h>
#include <ns3/simulator.h>

#include <cmath>

namespace longhaul {
namespace {

class SimulatorClock : public Clock {
 public:
  std::int64_t now_ns() const override { return longhaul::now_ns(); }
  void after_ns(std::int64_t delay_ns, std::function<void()> action) override {
    longhaul::after_ns(delay_ns, std::move(action));
  }
  void run() override { ns3::Simulator::Run(); }
  void stop() override { ns3::Simulator::Stop(); }
  void close() override { ns3::Simulator::Destroy(); }
  std::uint64_t events() const override { return ns3::Simulator::GetEventCount(); }
};

}  // namespace

Clock& simulator_clock() {
  static SimulatorClock clock;
  return clock;
}

std::int64_t now_ns() {
  return ns3::Simulator::Now().GetNanoSeconds();
}

double now_s() {
  return static_cast<double>(now_ns()) / 1e9;
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
