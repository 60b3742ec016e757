#include "trainer/replicas/spread.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/index.h"
#include "trainer/codecs/message.h"

namespace longhaul {
namespace {

// The sum of squared deviations over columns [begin, end), at most kBlock of them.
double block_deviation(const Arena& arena, Slot slot, std::int64_t begin, std::int64_t end, float* mean) {
  double center[kBlock] = {}, squares[kBlock] = {};
  const std::int64_t count = end - begin;
  for (int r = 0; r < arena.replicas(); ++r)
    for (std::int64_t i = 0; i < count; ++i) center[i] += arena.row(slot, r)[begin + i];
  for (std::int64_t i = 0; i < count; ++i) {
    center[i] /= arena.replicas();
    mean[begin + i] = static_cast<float>(center[i]);
  }
  for (int r = 0; r < arena.replicas(); ++r)
    for (std::int64_t i = 0; i < count; ++i) {
      const double deviation = arena.row(slot, r)[begin + i] - center[i];
      squares[i] += deviation * deviation;
    }
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += squares[i];
  return sum;
}

}  // namespace

bool rows_are_equal(const Arena& arena, Slot slot) {
  const std::size_t bytes = as_index(arena.parameters()) * sizeof(float);
  for (int r = arena.held().first + 1; r < arena.held().end; ++r)
    if (std::memcmp(arena.row(slot, r - 1), arena.row(slot, r), bytes) != 0) return false;
  return true;
}

double weight_spread(const Arena& arena, Slot slot, Backend& backend, float* mean) {
  const int blocks = static_cast<int>((arena.parameters() + kBlock - 1) / kBlock);
  std::vector<double> partial(as_index(blocks));
  backend.for_each(blocks, [&](int block) {
    partial[as_index(block)] = block_deviation(arena, slot, block * kBlock,
                                               std::min(arena.parameters(), (block + 1) * kBlock), mean);
  });
  double sum = 0;
  for (double part : partial) sum += part;
  return std::sqrt(sum / (static_cast<double>(arena.replicas()) * static_cast<double>(arena.parameters())));
}

}  // namespace longhaul
