#include "trainer/operations/rounded_mean.h"

#include <algorithm>

namespace longhaul {

std::vector<float> rounded_mean(const Columns& columns, const Codec& codec, int members, Arena& arena,
                                const ContributionsOf& contributions) {
  std::int64_t count = 0;
  for (const ColumnRange& range : columns) count += range.size();
  if (codec.reduction != Reduction::kServers) return reduced_mean(codec, count, members, contributions);
  const RowBlock& held = arena.held();
  const float* row = arena.row(Slot::kServerError, held.first);
  std::vector<float> errors;
  for (const ColumnRange& range : columns) errors.insert(errors.end(), row + range.begin, row + range.end);
  std::vector<float> mean = reduced_mean(codec, count, members, contributions, errors.data());
  for (int replica = held.first; replica < held.end; ++replica) {
    const float* from = errors.data();
    for (const ColumnRange& range : columns) {
      std::copy_n(from, range.size(), arena.row(Slot::kServerError, replica) + range.begin);
      from += range.size();
    }
  }
  return mean;
}

}  // namespace longhaul
