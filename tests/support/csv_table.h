// A whole CSV table at once, for tests of what was written.
#pragma once

#include <string>
#include <vector>

#include "core/base/csv.h"
#include "core/base/errors.h"

namespace longhaul {

struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::string file;

  // The index of a column; throws DamagedFile naming the file if it is missing.
  std::size_t column(const std::string& name) const {
    for (std::size_t i = 0; i < header.size(); ++i)
      if (header[i] == name) return i;
    throw DamagedFile(file + ": has no column \"" + name + "\"");
  }
};

inline CsvTable read_csv(const std::string& file) {  // throws as CsvStream
  CsvStream stream(file, {});
  const auto cells = [&] { return std::vector<std::string>(stream.cells().begin(), stream.cells().end()); };
  CsvTable table{cells(), {}, file};
  while (stream.next()) table.rows.push_back(cells());
  return table;
}

}  // namespace longhaul
