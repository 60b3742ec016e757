// Paths of micro-batches over tables [R, P] in one memory, a thread a column: what pipeline/microbatches.h
// does row by row. Paths lie in that memory too, so that a captured graph finds those of its step there.
#pragma once

#include <cstdint>

#include "trainer/pipeline/microbatches.h"

namespace longhaul {

// One part of the model, of columns [begin, …) in rows [R, parameters]; paths [R, parts].
struct PartOfPaths {
  const int* paths;
  int parts, part;
  std::int64_t parameters, begin;

  LONGHAUL_HOST_DEVICE std::int64_t at_home(std::int64_t home, std::int64_t column) const {
    return home * parameters + begin + column;
  }
  LONGHAUL_HOST_DEVICE std::int64_t where_it_passes(std::int64_t home, std::int64_t column) const {
    return at_home(paths[home * parts + part], column);
  }
};

struct GatherPart {
  PartOfPaths of;
  const float* weights;
  float* composed;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t home, std::int64_t column) const {
    composed[of.at_home(home, column)] = weights[of.where_it_passes(home, column)];
  }
};

struct ScatterPart {
  PartOfPaths of;
  const float* partial;
  float* gradients;
  float share;
  bool is_first;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t home, std::int64_t column) const {
    float& sum = gradients[of.where_it_passes(home, column)];
    sum = with_microbatch(sum, partial[of.at_home(home, column)], share, is_first);
  }
};

}  // namespace longhaul
