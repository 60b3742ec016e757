#include "trainer/updates/ddp.h"

#include <algorithm>

#include "trainer/cuda/device_steps.h"

namespace longhaul {
namespace {

class DdpUpdate : public Update {
 public:
  void apply(const Operation&, int replica, const Arrived& arrived, Arena& arena) const override {
    std::copy_n(arrived.mean("gradient"), arrived.size(),
                arena.row(Slot::kGradient, replica) + arrived.begin);
  }
  bool apply_on_device(const Operation&, DeviceSteps& steps) const override {
    steps.average(Slot::kGradient);
    return true;
  }
};

}  // namespace

std::unique_ptr<Update> make_ddp_update() {
  return std::make_unique<DdpUpdate>();
}

}  // namespace longhaul
