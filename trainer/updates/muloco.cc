// MuLoCo's outer step is DiLoCo's (diloco.h). What it has of its own is the inner optimizer.
#include "trainer/operations/update.h"
#include "trainer/updates/diloco.h"

namespace longhaul {
namespace {

class MulocoUpdate : public ColumnwiseOuterUpdate<DilocoStep> {
 public:
  using ColumnwiseOuterUpdate::ColumnwiseOuterUpdate;

  bool apply_on_device(const Operation&, DeviceSteps& steps) const override {
    steps.outer_step(step_);
    return true;
  }
};

}  // namespace

std::unique_ptr<Update> make_muloco_update(const Json& options) {
  return std::make_unique<MulocoUpdate>(
      DilocoStep{options.at("outer_lr"), options.at("outer_momentum"), options.at("nesterov")});
}

}  // namespace longhaul
