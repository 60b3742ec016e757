#include "trainer/updates/streaming_diloco.h"

namespace longhaul {

StreamingStep streaming_step(const Json& options) {
  return {{options.at("outer_lr"), options.at("outer_momentum"), true}, options.at("mixing")};
}

std::unique_ptr<Update> make_streaming_diloco_update(const Json& options) {
  return std::make_unique<ColumnwiseOuterUpdate<StreamingStep>>(streaming_step(options));
}

}  // namespace longhaul
