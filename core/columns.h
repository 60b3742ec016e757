// Columns: a part of the parameter vector, as ranges of it.
#pragma once

#include <cstdint>
#include <vector>

namespace longhaul {

struct ColumnRange {
  std::int64_t begin = 0, end = 0;

  std::int64_t size() const { return end - begin; }
};

inline bool operator==(const ColumnRange& a, const ColumnRange& b) {
  return a.begin == b.begin && a.end == b.end;
}

// Ranges in ascending order that do not touch. Empty: the whole vector, however long it is.
using Columns = std::vector<ColumnRange>;

inline std::int64_t column_count(const Columns& columns, std::int64_t parameters) {
  if (columns.empty()) return parameters;
  std::int64_t count = 0;
  for (const ColumnRange& range : columns) count += range.size();
  return count;
}

// The ranges, where the whole vector is one of them.
inline Columns ranges_of(const Columns& columns, std::int64_t parameters) {
  return columns.empty() ? Columns{{0, parameters}} : columns;
}

}  // namespace longhaul
