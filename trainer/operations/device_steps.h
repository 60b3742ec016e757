// The steps that have a kernel of their own, as an update asks for them (Update::apply_on_device): on tables
// in the GPU's memory, for all groups of an operation at once.
#pragma once

#include "trainer/replicas/arena.h"

namespace longhaul {

struct DilocoStep;
struct NolocoStep;

class DeviceSteps {
 public:
  virtual ~DeviceSteps() = default;

  // Every member's row becomes the mean of those of its group, as sent.
  virtual void average(Slot slot) = 0;
  virtual void outer_step(const DilocoStep& step) = 0;
  virtual void outer_step(const NolocoStep& step) = 0;
};

}  // namespace longhaul
