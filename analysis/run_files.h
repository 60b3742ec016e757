// Reading and writing the files of a run directory.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/errors.h"
#include "core/base/limits.h"
#include "core/base/options.h"

namespace longhaul {

// A JSON file; null where it does not exist. Throws DamagedFile, with the place in the file, where it is no
// JSON or not as declared. Declared numbers that are null are left out of it.
Json read_json_or_null(const std::string& file);
Json read_json_or_null(const std::string& file, const Node& declaration);

// A number that is not finite is null in JSON: as if it were not there, in the section and those inside it.
Json without_null_numbers(const Node& section, Json json);

// What `read` returns. What it has against its input is said of `file`, and damages it: throws DamagedFile.
template <typename Read>
auto reading(const std::string& file, const Read& read) -> decltype(read()) {
  try {
    return read();
  } catch (const InputError& error) {
    throw DamagedFile(error.in_file(file).what());
  } catch (const Json::exception& error) {
    throw DamagedFile(in_our_words(error).in_file(file).what());
  }
}

// Why a table that is finished cannot be: "" or "FILE: is cut off, its last line (1234) has no end". For the
// files of a case with `done`, which no process writes any more; readers leave such a line out. A file that
// does not exist is not cut off.
std::string cut_off(const std::string& file);

// Writes to a temporary name and renames, so that a reader never sees half a file. Throws RunError.
void write_file(const std::string& file, const std::string& text);

// The same for a text that is written bit by bit. What is not committed never takes the place of the file.
class ReplacedFile {
 public:
  explicit ReplacedFile(const std::string& file);  // throws RunError

  std::ofstream& stream() { return out_; }
  void commit();  // throws RunError

 private:
  std::string file_;
  std::ofstream out_;
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
  const std::string& line() const { return line_; }  // as it stands in the file, without its end

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

}  // namespace longhaul
