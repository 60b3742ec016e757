#include "core/plan/hidden_units.h"

#include <algorithm>
#include <string>

#include "core/base/index.h"
#include "core/base/random.h"

namespace longhaul {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

std::int64_t HiddenUnits::columns() const {
  std::int64_t sum = 0;
  for (const UnitColumns& matrix : matrices) sum += matrix.rows * matrix.width;
  return sum;
}

std::vector<HiddenUnits> ffn_units(const std::vector<Parameter>& layout) {
  std::vector<HiddenUnits> families;
  bool has_gate = false;  // of the layer, before its other matrices
  for (const Parameter& parameter : layout) {
    const bool is_gate = ends_with(parameter.name, "feed_forward.gate");
    if (is_gate || ends_with(parameter.name, "feed_forward.up")) {
      if (is_gate || !has_gate) families.push_back({static_cast<int>(parameter.rows), {}});
      families.back().matrices.push_back({parameter.offset, parameter.columns, 1, 0, parameter.columns});
      has_gate = is_gate;
    } else if (ends_with(parameter.name, "feed_forward.down"))
      families.back().matrices.push_back({parameter.offset, 1, parameter.rows, parameter.columns, 1});
  }
  return families;
}

void append(Columns& columns, const ColumnRange& range) {
  if (range.size() == 0) return;
  if (!columns.empty() && columns.back().end == range.begin)
    columns.back().end = range.end;
  else
    columns.push_back(range);
}

Columns columns_of(const std::vector<HiddenUnits>& families) {
  Columns matrices, joined;
  for (const HiddenUnits& family : families)
    for (const UnitColumns& matrix : family.matrices)
      matrices.push_back({matrix.offset, matrix.offset + family.count * matrix.rows * matrix.width});
  std::sort(matrices.begin(), matrices.end(),
            [](const ColumnRange& a, const ColumnRange& b) { return a.begin < b.begin; });
  for (const ColumnRange& matrix : matrices) append(joined, matrix);
  return joined;
}

Columns other_columns(const Columns& columns, std::int64_t parameters) {
  Columns others;
  std::int64_t begin = 0;
  for (const ColumnRange& range : columns) {
    append(others, {begin, range.begin});
    begin = range.end;
  }
  append(others, {begin, parameters});
  return others;
}

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
