#include "trainer/updates/noloco.h"

#include "trainer/operations/update.h"

namespace longhaul {
namespace {

class NolocoUpdate : public ColumnwiseOuterUpdate<NolocoStep> {
 public:
  using ColumnwiseOuterUpdate::ColumnwiseOuterUpdate;

  std::vector<std::string> reads(const Operation& operation) const override {
    if (!operation.rule->is_blocking()) return {};  // φ, sent ahead for the next outer step
    return ColumnwiseOuterUpdate::reads(operation);
  }

  bool apply_on_device(const Operation& operation, DeviceSteps& steps) const override {
    if (operation.rule->is_blocking()) steps.outer_step(step_);
    return true;
  }
};

}  // namespace

std::unique_ptr<Update> make_noloco_update(const Json& options) {
  return std::make_unique<NolocoUpdate>(
      NolocoStep{options.at("alpha"), options.at("beta"), options.at("gamma")});
}

}  // namespace longhaul
