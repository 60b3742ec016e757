#include "sim/network/clock.h"

#include <ns3/simulator.h>

#include <cmath>

namespace longhaul {

double now_s() {
  return static_cast<double>(ns3::Simulator::Now().GetNanoSeconds()) / 1e9;
}

double seconds_between(double earlier_s, double later_s) {
  return std::round((later_s - earlier_s) * 1e9) / 1e9;
}

void after(double delay_s, std::function<void()> action) {
  ns3::Simulator::Schedule(ns3::NanoSeconds(std::llround(delay_s * 1e9)), std::move(action));
}

SimulationScope::~SimulationScope() {
  ns3::Simulator::Destroy();
}

}  // namespace longhaul
