// What data parallel methods do: every replica's gradient becomes the mean of all gradients, before the
// optimizer takes its step.
#pragma once

#include "trainer/operations/update.h"

namespace longhaul {

class GradientAverage : public Update {
 public:
  void apply(const Operation& operation, int replica, const Arrived& arrived, Arena& arena) const override;
  bool apply_on_device(const Operation& operation, DeviceSteps& steps) const override;
};

}  // namespace longhaul
