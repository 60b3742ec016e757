// Reading a CSV of a run directory row by row, for tables that may have millions of rows.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace longhaul {

class CsvStream {
 public:
  // Throws RunError if `file` cannot be read or lacks one of `columns`; one without a whole header, whose
  // writer has only begun, has no rows. Cells are then addressed by their index in `columns`, whatever the
  // order in the file is.
  CsvStream(const std::string& file, const std::vector<std::string>& columns);

  // Goes to the next row; false at the end. A last line without its end (its writer was killed) counts as the
  // end. Throws RunError, with the line number, for a row with too few or too many cells.
  bool next();

  // Of the current row; valid until next(). Numbers throw RunError, with file and line, where the cell is
  // none.
  std::string_view text(std::size_t column) const { return cells_[order_[column]]; }
  double number(std::size_t column) const;
  std::int64_t integer(std::size_t column) const;
  bool empty(std::size_t column) const { return text(column).empty(); }
  bool has_header() const { return width_ > 0; }
  const std::string& line() const { return line_; }  // as it stands in the file, without its end

 private:
  bool read_line();
  void split();
  void split_quoted();
  [[noreturn]] void fail(const std::string& what) const;

  std::string file_;
  std::ifstream in_;
  std::string line_;
  std::int64_t line_number_ = 0;
  std::vector<std::size_t> order_;
  std::vector<std::string_view> cells_;
  std::vector<std::string> unquoted_;  // what cells_ points into where the row has quotes
  std::size_t width_ = 0;
};

}  // namespace longhaul
