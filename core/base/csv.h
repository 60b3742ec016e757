// The CSV of a run directory: comma separated, a header line, numbers in their shortest exact form, no
// quoting except of case names (which hold commas).
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/limits.h"
#include "core/base/units.h"

namespace longhaul {

std::string csv_quoted(const std::string& text);

class CsvWriter {
 public:
  // Truncates `file` and writes the header. Throws RunError if that fails.
  CsvWriter(const std::string& file, const std::vector<std::string>& header);
  // Continues `file`, which has its header, at its end. Throws RunError if that fails.
  explicit CsvWriter(const std::string& file);

  // Quoted where it holds a comma or a quote.
  CsvWriter& cell(const std::string& text) { return add(csv_quoted(text)); }
  CsvWriter& cell(double value) { return add(format_number(value)); }
  CsvWriter& cell(std::int64_t value);
  CsvWriter& cell(int value) { return cell(static_cast<std::int64_t>(value)); }
  void end_row();  // throws RunError if the disk is full
  void flush();

 private:
  CsvWriter& add(std::string_view written);
  void check() const;

  std::string file_, row_;
  std::ofstream out_;
  bool first_ = true;
};

// A CSV row by row, for tables that may have millions of rows.
class CsvStream {
 public:
  // Throws DamagedFile if `file` cannot be read or lacks one of `columns`; a file without a whole header,
  // whose writer has only begun, has no rows. Cells are then addressed by their index in `columns`, whatever
  // the order in the file is.
  CsvStream(const std::string& file, const std::vector<std::string>& columns);

  // Goes to the next row; false at the end. A last line without its end (its writer was killed) counts as the
  // end. Throws DamagedFile, with the line number, for a row with too few or too many cells.
  bool next();

  // Of the current row; valid until next(). Numbers throw DamagedFile, with file, line and column, where the
  // cell is none, or not in the range.
  std::string_view text(std::size_t column) const { return cells_[order_[column]]; }
  double number(std::size_t column) const;
  std::int64_t integer(std::size_t column) const;
  std::int64_t integer(std::size_t column, std::int64_t least, std::int64_t most) const {
    const std::int64_t value = integer(column);
    if (value < least || value > most) refuse(column, least, most);
    return value;
  }
  std::int64_t step(std::size_t column) const { return integer(column, 0, kMostOfACount); }
  std::int64_t worker(std::size_t column) const { return integer(column, 0, kMostReplicas - 1); }
  bool empty(std::size_t column) const { return text(column).empty(); }
  bool has_header() const { return width_ > 0; }
  // As it stands in the file, without its end; before the first next() the header.
  const std::string& line() const { return line_; }
  const std::vector<std::string_view>& cells() const { return cells_; }  // of that line, in the file's order

 private:
  bool read_line();
  void split();
  void split_quoted();
  [[noreturn]] void refuse(std::size_t column, std::int64_t least, std::int64_t most) const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string file_;
  std::vector<std::string> columns_;
  std::ifstream in_;
  std::string line_;
  std::int64_t line_number_ = 0;
  std::vector<std::size_t> order_;
  std::vector<std::string_view> cells_;
  std::vector<std::string> unquoted_;  // what cells_ points into where the row has quotes
  std::size_t width_ = 0;
};

// Columns of numbers, by name.
std::map<std::string, std::vector<double>> read_numbers(const std::string& file,
                                                        const std::vector<std::string>& columns);

}  // namespace longhaul
