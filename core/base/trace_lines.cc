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

// The cells of a line (RFC 4180): commas between them, quotes around any, a quote inside as two.
std::vector<std::string> cells_of(const std::string& line, const TraceLine& place) {
  std::vector<std::string> cells;
  std::string cell;
  bool is_quoted = false, was_quoted = false;
  const auto end_cell = [&] {
    cells.push_back(was_quoted ? cell : trimmed(cell));
    cell.clear();
    was_quoted = false;
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char letter = line[i];
    if (is_quoted && letter == '"' && i + 1 < line.size() && line[i + 1] == '"')
      cell += line[++i];
    else if (is_quoted && letter == '"')
      is_quoted = false;
    else if (is_quoted)
      cell += letter;
    else if (letter == ',')
      end_cell();
    else if (was_quoted && trimmed(std::string(1, letter)).empty())
      continue;
    else if (letter == '"' && !was_quoted && trimmed(cell).empty())
      cell.clear(), is_quoted = was_quoted = true;
    else if (was_quoted || letter == '"')
      place.refuse("", "found a quote in the middle of a cell", "quotes around whole cells");
    else
      cell += letter;
  }
  if (is_quoted) place.refuse("", "found a quote that does not end", "quotes around whole cells of one line");
  end_cell();
  return cells;
}

}  // namespace

void TraceLine::refuse(const std::string& column, const std::string& found,
                       const std::string& allowed) const {
  const std::string place = fmt::format("line {}", number);
  throw InputError({file, column.empty() ? place : place + ", column " + column, found, allowed, ""});
}

std::vector<TraceLine> trace_lines(const std::string& text, const std::string& file) {
  for (const char* mark : {"\xff\xfe", "\xfe\xff"})
    if (text.rfind(mark, 0) == 0)
      throw InputError({file, "", "is in UTF-16, by its first bytes", "CSV in UTF-8", "iconv converts it"});
  std::vector<TraceLine> lines;
  constexpr std::size_t kMark = 3;  // of UTF-8, which spreadsheets write
  std::istringstream in(text.rfind("\xef\xbb\xbf", 0) == 0 ? text.substr(kMark) : text);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (const std::string words = trimmed(line); words.empty() || words[0] == '#') continue;
    lines.push_back({file, number, {}});
    lines.back().cells = cells_of(line, lines.back());
  }
  return lines;
}

void check_trace_header(const TraceLine& header, const std::vector<std::string>& columns) {
  if (header.cells.size() == 1 && header.cells[0].find_first_of(";\t") != std::string::npos)
    header.refuse("", fmt::format("found \"{}\"", header.cells[0]),
                  "commas between the columns, and points in numbers: " + join(columns));
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
