#include "core/plan/hidden_units.h"

#include <algorithm>
#include <string>

#include "core/base/errors.h"

namespace longhaul {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// `each`: rows, or columns, of the matrix that belong to one unit.
UnitColumns rows_of_units(const Parameter& matrix, std::int64_t each) {
  return {matrix.offset, each * matrix.columns, 1, 0, each * matrix.columns};
}
UnitColumns columns_of_units(const Parameter& matrix, std::int64_t each) {
  return {matrix.offset, each, matrix.rows, matrix.columns, each};
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
      families.back().matrices.push_back(rows_of_units(parameter, 1));
      has_gate = is_gate;
    } else if (ends_with(parameter.name, "feed_forward.down"))
      families.back().matrices.push_back(columns_of_units(parameter, 1));
  }
  return families;
}

std::vector<HiddenUnits> head_units(const std::vector<Parameter>& layout, int heads) {
  std::vector<HiddenUnits> families;
  std::int64_t queries = 0;
  for (const Parameter& parameter : layout) {
    const std::int64_t width = queries / heads;
    if (ends_with(parameter.name, "attention.query")) {
      queries = parameter.rows;
      families.push_back({heads, {rows_of_units(parameter, queries / heads)}});
    } else if (ends_with(parameter.name, "attention.key") || ends_with(parameter.name, "attention.value")) {
      if (parameter.rows != queries)
        throw InputError("workload.model.kv_heads",
                         "found fewer than heads, with attention heads as hidden units", "as many as heads",
                         "several heads share keys and values, so that none is a unit of its own");
      families.back().matrices.push_back(rows_of_units(parameter, width));
    } else if (ends_with(parameter.name, "attention.output")) {
      families.back().matrices.push_back(columns_of_units(parameter, width));
    }
  }
  return families;
}

Columns columns_of(const std::vector<HiddenUnits>& families) {
  Columns matrices, joined;
  for (const HiddenUnits& family : families)
    for (const UnitColumns& matrix : family.matrices)
      matrices.push_back({matrix.offset, matrix.offset + family.count * matrix.rows * matrix.width});
  std::sort(matrices.begin(), matrices.end(),
            [](const ColumnRange& a, const ColumnRange& b) { return a.begin < b.begin; });
  for (const ColumnRange& matrix : matrices)
    if (!joined.empty() && joined.back().end == matrix.begin)
      joined.back().end = matrix.end;
    else
      joined.push_back(matrix);
  return joined;
}

Columns other_columns(const Columns& columns, std::int64_t parameters) {
  Columns others;
  std::int64_t begin = 0;
  for (const ColumnRange& range : columns) {
    if (range.begin > begin) others.push_back({begin, range.begin});
    begin = range.end;
  }
  if (begin < parameters) others.push_back({begin, parameters});
  return others;
}

}  // namespace longhaul
