#include "trainer/updates/diloco.h"

#include "trainer/operations/update.h"

namespace longhaul {
namespace {

class DilocoUpdate : public ColumnwiseOuterUpdate<DilocoStep> {
 public:
  using ColumnwiseOuterUpdate::ColumnwiseOuterUpdate;

  bool apply_on_device(const Operation&, DeviceSteps& steps) const override {
    steps.outer_step(step_);
    return true;
  }
};

}  // namespace

std::unique_ptr<Update> make_diloco_update(const Json& options) {
  return std::make_unique<DilocoUpdate>(
      DilocoStep{options.at("outer_lr"), options.at("outer_momentum"), options.at("nesterov")});
}

}  // namespace longhaul
