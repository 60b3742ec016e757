// The CSV of a run directory: comma separated, a header line, numbers in their shortest exact form, no
// quoting except of case names (which hold commas).
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace longhaul {

class CsvWriter {
 public:
  // Truncates `file` and writes the header. Throws RunError if that fails.
  CsvWriter(const std::string& file, const std::vector<std::string>& header);
  // Continues `file`, which has its header, at its end. Throws RunError if that fails.
  explicit CsvWriter(const std::string& file);

  CsvWriter& cell(const std::string& text);  // quoted where it holds a comma or a quote
  CsvWriter& cell(double value);
  CsvWriter& cell(std::int64_t value);
  CsvWriter& cell(int value) { return cell(static_cast<std::int64_t>(value)); }
  void end_row();  // throws RunError if the disk is full
  void flush();

 private:
  void check() const;

  std::string file_;
  std::ofstream out_;
  bool first_ = true;
};

struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;

  // The index of a column; throws RunError naming the file if it is missing.
  std::size_t column(const std::string& name) const;
  std::string file;
};

// Reads a whole file; a last line without its end (a run that was killed) is left out. Throws RunError.
CsvTable read_csv(const std::string& file);

std::string csv_quoted(const std::string& text);

}  // namespace longhaul
