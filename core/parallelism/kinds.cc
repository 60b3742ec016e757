#include "core/parallelism/layer_operations.h"

namespace longhaul {

// Each is defined in the file of its name.
ParallelKind experts_kind();
ParallelKind tensor_kind();
ParallelKind sharding_kind();

const std::vector<ParallelKind>& parallel_kinds() {
  static const std::vector<ParallelKind> all = {experts_kind(), tensor_kind(), sharding_kind()};
  return all;
}

}  // namespace longhaul
