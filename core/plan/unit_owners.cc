#include "core/plan/unit_owners.h"

#include <algorithm>

#include "core/base/index.h"
#include "core/base/random.h"

namespace longhaul {

std::vector<int> unit_owners(std::uint64_t seed, int count, int family, int replicas, int round) {
  RandomStream stream(seed, Purpose::kUnits, 0, static_cast<std::uint32_t>(round),
                      static_cast<std::uint16_t>(family));
  const std::vector<int> order = random_permutation(count, stream);
  std::vector<int> owners(as_index(count));
  for (int place = 0; place < count; ++place)
    owners[as_index(order[as_index(place)])] = (place + family) % replicas;
  return owners;
}

std::vector<int> column_owners(std::uint64_t seed, const std::vector<HiddenUnits>& families, int replicas,
                               int round, std::int64_t parameters) {
  std::vector<int> of_column(as_index(parameters), kShared);
  for (std::size_t family = 0; family < families.size(); ++family) {
    const HiddenUnits& units = families[family];
    const std::vector<int> owners = unit_owners(seed, units.count, static_cast<int>(family), replicas, round);
    for (const UnitColumns& matrix : units.matrices)
      for (int unit = 0; unit < units.count; ++unit)
        for (std::int64_t row = 0; row < matrix.rows; ++row)
          std::fill_n(of_column.begin() + matrix.offset + unit * matrix.stride + row * matrix.row_stride,
                      matrix.width, owners[as_index(unit)]);
  }
  return of_column;
}

std::vector<std::int64_t> passed_columns(std::uint64_t seed, const std::vector<HiddenUnits>& families,
                                         int replicas, int round) {
  std::vector<std::int64_t> passed(as_index(replicas) * as_index(replicas));
  for (std::size_t family = 0; family < families.size(); ++family) {
    const HiddenUnits& units = families[family];
    const auto owners = [&](int of_round) {
      return unit_owners(seed, units.count, static_cast<int>(family), replicas, of_round);
    };
    const std::vector<int> before = owners(round - 1), after = owners(round);
    for (std::size_t unit = 0; unit < before.size(); ++unit)
      passed[as_index(before[unit] * replicas + after[unit])] += units.columns();
  }
  return passed;
}

std::int64_t most_owned_columns(const std::vector<HiddenUnits>& families, int replicas) {
  std::vector<std::int64_t> owned(as_index(replicas));
  for (std::size_t family = 0; family < families.size(); ++family) {
    const int each = families[family].count / replicas, over = families[family].count % replicas;
    for (int place = 0; place < replicas; ++place)
      owned[(as_index(place) + family) % as_index(replicas)] +=
          (each + (place < over)) * families[family].columns();
  }
  return *std::max_element(owned.begin(), owned.end());
}

}  // namespace longhaul
