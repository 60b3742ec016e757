#include "trainer/operations/gradient_average.h"

#include <algorithm>

#include "trainer/operations/device_steps.h"

namespace longhaul {

void GradientAverage::apply(const Operation&, int replica, const Arrived& arrived, Arena& arena) const {
  std::copy_n(arrived.mean("gradient"), arrived.size(), arena.row(Slot::kGradient, replica) + arrived.begin);
}

bool GradientAverage::apply_on_device(const Operation&, DeviceSteps& steps) const {
  steps.average(Slot::kGradient);
  return true;
}

}  // namespace longhaul
