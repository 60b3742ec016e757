#include "trainer/pipeline/microbatches.h"

namespace longhaul {

Batch microbatch_of(const Batch& batch, int microbatch, int microbatches) {
  const auto size = static_cast<std::ptrdiff_t>(batch.tokens.size()) / microbatches;
  const auto begin = batch.tokens.begin() + microbatch * size;
  return {batch.sequences / microbatches, {begin, begin + size}};
}

}  // namespace longhaul
