#include "core/plan/hidden_units.h"

#include <algorithm>
#include <string>

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

}  // namespace longhaul
