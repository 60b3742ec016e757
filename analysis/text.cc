#include "analysis/text.h"

#include <fmt/core.h>

#include <sstream>
#include <utility>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

// A text in Markdown without the marks of bold letters and without escapes.
std::string unmarked(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "**") == 0)
      ++i;
    else if (text.compare(i, 4, "&lt;") == 0)
      plain += '<', i += 3;
    else if (text.compare(i, 2, "\\|") != 0)
      plain += text[i];
  }
  return plain;
}

// "| a | b |" as a and b.
std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells;
  std::size_t start = 1;
  for (std::size_t i = 1; i < row.size(); ++i)
    if (row[i] == '|' && row[i - 1] != '\\') {
      const std::string cell = row.substr(start, i - start);
      const std::size_t first = cell.find_first_not_of(' '), last = cell.find_last_not_of(' ');
      cells.push_back(first == std::string::npos ? "" : unmarked(cell.substr(first, last + 1 - first)));
      start = i + 1;
    }
  return cells;
}

// The second line says which columns are of numbers: "---:".
std::string aligned_table(const std::vector<std::string>& lines) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : lines) rows.push_back(cells_of(line));
  std::string marks;
  for (const std::string& rule : rows.size() > 1 ? rows[1] : std::vector<std::string>())
    marks += rule.back() == ':' ? 'r' : 'l';
  if (rows.size() > 1) rows.erase(rows.begin() + 1);
  return aligned_rows(rows, marks, "  ");
}

}  // namespace

std::string counted(std::size_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string amount_of(const std::string& amount, const std::string& what) {
  return fmt::format("{} {}{}", amount, what, amount == "1" ? "" : "s");
}

std::string human_number(double value) {
  return fmt::format("{:.6g}", value);
}

std::string capitalized(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string named_few(const std::vector<std::string>& names, std::size_t most) {
  if (names.size() <= most) return join(names, "; ");
  const std::vector<std::string> few(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(most));
  return fmt::format("{}; and {} more", join(few, "; "), names.size() - most);
}

std::string last_key(const std::string& dotted) {
  return dotted.substr(dotted.rfind('.') + 1);
}

std::size_t width_of(const std::string& text) {
  return as_index(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string aligned_rows(const std::vector<std::vector<std::string>>& rows, const std::string& marks,
                         const std::string& indent) {
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - width_of(row[i]), ' ');
      const bool is_right = i < marks.size() && marks[i] == 'r';
      line += (i > 0 ? "  " : "") + (is_right ? space + row[i] : row[i] + space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string aligned_columns(const std::vector<TextColumn>& columns, const std::string& indent) {
  std::vector<std::vector<std::string>> rows(columns[0].cells.size() + 1);
  std::string marks;
  for (const TextColumn& column : columns) {
    marks += column.left ? 'l' : 'r';
    rows[0].push_back(column.heading);
    for (std::size_t i = 0; i < column.cells.size(); ++i) rows[i + 1].push_back(column.cells[i]);
  }
  return aligned_rows(rows, marks, indent);
}

std::string wrapped(const std::string& text, std::size_t width, const std::string& first,
                    const std::string& next) {
  std::string result, line = first;
  std::size_t start = 0;
  bool is_begun = false;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string word = text.substr(start, end - start);
    if (is_begun && width_of(line) + 1 + width_of(word) > width) {
      result += line + "\n";
      line = next;
      is_begun = false;
    }
    line += (is_begun ? " " : "") + word;
    is_begun = true;
    start = end + 1;
  }
  return result + line + "\n";
}

std::string terminal_text(const std::string& markdown, std::size_t width) {
  std::istringstream in(markdown);
  std::string text;
  std::vector<std::string> table;
  for (std::string line; std::getline(in, line);) {
    const bool is_row = line.rfind('|', 0) == 0;
    if (is_row) table.push_back(line);
    if (is_row && in.peek() == '|') continue;
    if (is_row)
      text += aligned_table(std::exchange(table, {}));
    else if (line.rfind('#', 0) == 0)
      text += unmarked(line.substr(line.find(' ') + 1)) + "\n";
    else
      text += wrapped(unmarked(line), width, "", line.rfind("- ", 0) == 0 ? "  " : "");
  }
  return text;
}

std::string markdown_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|')
      safe += "\\|";
    else if (c == '<')
      safe += "&lt;";
    else
      safe += c == '\n' || c == '\r' ? ' ' : c;
  }
  return safe;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + markdown_text(cell) + " |";
  return row + "\n";
}

std::string markdown_rule(const std::string& marks) {
  std::string rule = "|";
  for (const char mark : marks) rule += mark == 'r' ? "---:|" : "---|";
  return rule + "\n";
}

}  // namespace longhaul
