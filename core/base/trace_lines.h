// Tables of times that people write (docs/formats.md): CSV with remarks behind a # at the beginning of a
// line, blank lines, and columns in any order. Cells may be quoted (RFC 4180), and the file may begin with
// the mark of UTF-8. Errors name file, line and column.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace longhaul {

// A line of the file with its number. The first one is the header.
struct TraceLine {
  std::string file;
  int number = 0;
  std::vector<std::string> cells;  // trimmed, without their quotes

  // Throws InputError of this line, and of a column if it is named.
  [[noreturn]] void refuse(const std::string& column, const std::string& found,
                           const std::string& allowed) const;
};

// All lines but blank ones and remarks. Throws InputError for UTF-16 and for quotes that do not match.
std::vector<TraceLine> trace_lines(const std::string& text, const std::string& file);

// Throws InputError where the header has a column that is none of `columns`, or one twice.
void check_trace_header(const TraceLine& header, const std::vector<std::string>& columns);
bool has_column(const TraceLine& header, const std::string& column);
// Throws InputError where a line has more or fewer cells than the header.
void check_trace_cells(const TraceLine& line, const TraceLine& header);

// Of a line whose cells were checked: empty where the cell is, or there is no such column.
std::string trace_cell(const TraceLine& line, const TraceLine& header, const std::string& column);
// The same as a finite number. Throws InputError where it is none.
std::optional<double> trace_number(const TraceLine& line, const TraceLine& header, const std::string& column);

}  // namespace longhaul
