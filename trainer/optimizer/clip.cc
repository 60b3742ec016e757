#include "trainer/optimizer/clip.h"

#include <algorithm>
#include <cmath>

#include "trainer/replicas/vectorized.h"

namespace longhaul {
namespace {

constexpr std::int64_t kBlock = 4096;
constexpr int kLanes = 32;  // independent sums, so that the loop vectorizes without reordering

LONGHAUL_VECTORIZED double sum_of_squares(const float* values, std::int64_t count) {
  float lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane] * values[i + lane];
  double sum = 0;
  for (; i < count; ++i) sum += static_cast<double>(values[i]) * values[i];
  for (float lane : lanes) sum += lane;
  return sum;
}

}  // namespace

double row_norm(const float* row, std::int64_t columns) {
  double sum = 0;
  for (std::int64_t begin = 0; begin < columns; begin += kBlock)
    sum += sum_of_squares(row + begin, std::min(kBlock, columns - begin));
  return std::sqrt(sum);
}

}  // namespace longhaul
