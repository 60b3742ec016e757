#include "core/base/csv.h"

#include <fmt/format.h>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

std::vector<std::string> split_row(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"')
        cells.back() += line[++i];
      else
        quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  return cells;
}

}  // namespace

std::string csv_quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

CsvWriter::CsvWriter(const std::string& file, const std::vector<std::string>& header)
    : file_(file), out_(file) {
  for (const std::string& name : header) cell(name);
  end_row();
}

CsvWriter::CsvWriter(const std::string& file) : file_(file), out_(file, std::ios::app) {
  flush();
}

CsvWriter& CsvWriter::cell(const std::string& text) {
  if (!first_) out_ << ',';
  first_ = false;
  out_ << csv_quoted(text);
  return *this;
}

CsvWriter& CsvWriter::cell(double value) {
  return cell(format_number(value));
}

CsvWriter& CsvWriter::cell(std::int64_t value) {
  return cell(fmt::format_int(value).str());
}

void CsvWriter::end_row() {
  out_ << '\n';
  first_ = true;
  check();
}

void CsvWriter::flush() {
  out_.flush();
  check();
}

void CsvWriter::check() const {
  if (!out_) throw unwritable(file_);
}

std::size_t CsvTable::column(const std::string& name) const {
  for (std::size_t i = 0; i < header.size(); ++i)
    if (header[i] == name) return i;
  throw RunError(fmt::format("{}: has no column \"{}\"", file, name));
}

CsvTable read_csv(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw RunError(file + ": cannot be read");
  CsvTable table;
  table.file = file;
  std::string line;
  while (std::getline(in, line)) {
    if (in.eof()) break;  // no end of line: the writer was killed in the middle of it
    std::vector<std::string> cells = split_row(line);
    if (table.header.empty())
      table.header = std::move(cells);
    else if (cells.size() == table.header.size())
      table.rows.push_back(std::move(cells));
    else
      throw RunError(fmt::format("{}: line {} has {} cells, the header {}", file, table.rows.size() + 2,
                                 cells.size(), table.header.size()));
  }
  return table;
}

}  // namespace longhaul
