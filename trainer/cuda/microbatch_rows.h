// Paths of micro-batches over tables [R, P] in one memory, a thread a column: what pipeline/microbatches.h
// does row by row. Paths lie in that memory too, so that a captured graph finds those of its step there.
#pragma once

#include <cstdint>

#include "trainer/pipeline/microbatches.h"

namespace longhaul {

// What a path meets at one place: the columns from `begin` of the replica's row. Replica -1: nothing.
struct DeviceStop {
  int replica;
  std::int64_t begin;
};

// One place of the model, of columns [begin, …) in rows [R, parameters]; paths [R, places].
struct PlaceOfPaths {
  const DeviceStop* paths;
  int places, place;
  std::int64_t parameters, begin;

  LONGHAUL_HOST_DEVICE std::int64_t at_home(std::int64_t home, std::int64_t column) const {
    return home * parameters + begin + column;
  }
  // -1 where the path leaves it out.
  LONGHAUL_HOST_DEVICE std::int64_t where_it_passes(std::int64_t home, std::int64_t column) const {
    const DeviceStop& stop = paths[home * places + place];
    return stop.replica < 0 ? -1 : stop.replica * parameters + stop.begin + column;
  }
};

struct ClearRows {
  float* rows;
  std::int64_t columns;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t row, std::int64_t column) const {
    rows[row * columns + column] = 0;
  }
};

struct GatherPlace {
  PlaceOfPaths of;
  const float* weights;
  float* composed;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t home, std::int64_t column) const {
    const std::int64_t at = of.where_it_passes(home, column);
    composed[of.at_home(home, column)] = at < 0 ? 0 : weights[at];
  }
};

struct ScatterPlace {
  PlaceOfPaths of;
  const float* partial;
  float* gradients;
  float share;
  bool is_first;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t home, std::int64_t column) const {
    const std::int64_t at = of.where_it_passes(home, column);
    if (at < 0) return;
    float& sum = gradients[at];
    sum = with_microbatch(sum, partial[of.at_home(home, column)], share, is_first);
  }
};

}  // namespace longhaul
