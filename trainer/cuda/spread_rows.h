// What an evaluation asks of the rows of a table [R, P]: whether they are equal, their mean, and how far they
// are from it, in double and in the order of weight_spread.cc, whose bits these are.
#pragma once

#include <cstdint>

#include "trainer/device/host_device.h"

namespace longhaul {

// *differs becomes 1 where a row has other bits than the first one.
struct FindDifferences {
  const std::uint32_t* rows;
  std::int64_t replicas, columns;
  int* differs;  // every thread that writes it writes the same

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t, std::int64_t column) const {
    for (std::int64_t r = 1; r < replicas; ++r)
      if (rows[r * columns + column] != rows[column]) *differs = 1;
  }
};

// Of columns `first` … of the rows: their mean, and the squares of the deviations from it, added up over the
// replicas in their order.
struct CenterColumns {
  const float* rows;
  std::int64_t replicas, columns, first;
  float* mean;      // [P]
  double* squares;  // by column, from the first on

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t, std::int64_t at) const {
    const float* column = rows + first + at;
    double center = 0, sum = 0;
    for (std::int64_t r = 0; r < replicas; ++r) center += static_cast<double>(column[r * columns]);
    center /= static_cast<double>(replicas);
    for (std::int64_t r = 0; r < replicas; ++r) {
      const double away = static_cast<double>(column[r * columns]) - center;
      sum += away * away;
    }
    mean[first + at] = static_cast<float>(center);
    squares[at] = sum;
  }
};

// sums [b] ← squares [count] of block b, one after the other.
struct SumBlocks {
  const double* squares;
  double* sums;
  std::int64_t count, block;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t, std::int64_t b) const {
    const std::int64_t begin = b * block, end = begin + block < count ? begin + block : count;
    double sum = 0;
    for (std::int64_t i = begin; i < end; ++i) sum += squares[i];
    sums[b] = sum;
  }
};

}  // namespace longhaul
