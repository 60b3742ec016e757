#include "trainer/updates/diloco.h"

namespace longhaul {

std::unique_ptr<Update> make_diloco_update(const Json& options) {
  return std::make_unique<ColumnwiseOuterUpdate<DilocoStep>>(
      DilocoStep{options.at("outer_lr"), options.at("outer_momentum"), options.at("nesterov")});
}

}  // namespace longhaul
