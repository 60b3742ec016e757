#include "core/base/trace_lines.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/units.h"

namespace longhaul {

namespace {

// Without blanks around it. A machine that only trains has no Boost.
std::string trimmed(const std::string& text) {
  constexpr const char* kBlanks = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace

void TraceLine::refuse(const std::string& column, const std::string& found,
                       const std::string& allowed) const {
  const std::string place = fmt::format("line {}", number);
  throw InputError({file, column.empty() ? place : place + ", column " + column, found, allowed, ""});
}

std::vector<TraceLine> trace_lines(const std::string& text, const std::string& file) {
  std::vector<TraceLine> lines;
  std::istringstream in(text);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (const std::string words = trimmed(line); words.empty() || words[0] == '#') continue;
    lines.push_back({file, number, {}});
    std::size_t begin = 0;
    for (std::size_t comma; (comma = line.find(',', begin)) != std::string::npos; begin = comma + 1)
      lines.back().cells.push_back(trimmed(line.substr(begin, comma - begin)));
    lines.back().cells.push_back(trimmed(line.substr(begin)));
  }
  return lines;
}

void check_trace_header(const TraceLine& header, const std::vector<std::string>& columns) {
  for (std::size_t i = 0; i < header.cells.size(); ++i) {
    const std::string& name = header.cells[i];
    if (std::find(columns.begin(), columns.end(), name) == columns.end())
      header.refuse("", fmt::format("found the column \"{}\"", name), join(columns));
    const auto here = header.cells.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(header.cells.begin(), here, name) != here)
      header.refuse("", fmt::format("found the column \"{}\" twice", name), "each column once");
  }
}

bool has_column(const TraceLine& header, const std::string& column) {
  return std::find(header.cells.begin(), header.cells.end(), column) != header.cells.end();
}

void check_trace_cells(const TraceLine& line, const TraceLine& header) {
  if (line.cells.size() != header.cells.size())
    line.refuse("", fmt::format("has {} cells", line.cells.size()),
                fmt::format("as many as the header: {}", header.cells.size()));
}

std::string trace_cell(const TraceLine& line, const TraceLine& header, const std::string& column) {
  const auto place = std::find(header.cells.begin(), header.cells.end(), column);
  if (place == header.cells.end()) return "";
  return line.cells[as_index(place - header.cells.begin())];
}

std::optional<double> trace_number(const TraceLine& line, const TraceLine& header,
                                   const std::string& column) {
  const std::string cell = trace_cell(line, header, column);
  if (cell.empty()) return std::nullopt;
  const std::optional<double> value = parse_number<double>(cell);
  if (!value || !std::isfinite(*value)) line.refuse(column, "found \"" + cell + "\"", "a number");
  return value;
}

}  // namespace longhaul
