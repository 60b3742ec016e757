#include "trainer/updates/noloco.h"

namespace longhaul {

std::unique_ptr<Update> make_noloco_update(const Json& options) {
  return std::make_unique<ColumnwiseOuterUpdate<NolocoStep>>(
      NolocoStep{options.at("alpha"), options.at("beta"), options.at("gamma")});
}

}  // namespace longhaul
