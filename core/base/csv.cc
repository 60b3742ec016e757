#include "core/base/csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/index.h"

namespace longhaul {

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

CsvWriter& CsvWriter::cell(std::int64_t value) {
  const fmt::format_int digits(value);
  return add({digits.data(), digits.size()});
}

CsvWriter& CsvWriter::add(std::string_view written) {
  if (!first_) row_ += ',';
  first_ = false;
  row_ += written;
  return *this;
}

void CsvWriter::end_row() {
  row_ += '\n';
  out_ << row_;
  row_.clear();
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

CsvStream::CsvStream(const std::string& file, const std::vector<std::string>& columns)
    : file_(file), columns_(columns), in_(file) {
  if (!in_) throw DamagedFile(file + ": cannot be read");
  if (!read_line()) return;  // still being written, or killed before its header
  split();
  width_ = cells_.size();
  for (const std::string& column : columns) {
    const auto found = std::find(cells_.begin(), cells_.end(), column);
    if (found == cells_.end()) throw DamagedFile(fmt::format("{}: has no column \"{}\"", file, column));
    order_.push_back(as_index(found - cells_.begin()));
  }
}

bool CsvStream::next() {
  if (width_ == 0 || !read_line()) return false;
  split();
  if (cells_.size() != width_) fail(fmt::format("has {} cells, the header {}", cells_.size(), width_));
  return true;
}

bool CsvStream::read_line() {
  ++line_number_;
  return std::getline(in_, line_) && !in_.eof();  // at the end of the file: its line end is missing
}

void CsvStream::split() {
  cells_.clear();
  if (line_.find('"') != std::string::npos) return split_quoted();
  std::size_t start = 0;
  for (std::size_t comma; (comma = line_.find(',', start)) != std::string::npos; start = comma + 1)
    cells_.push_back(std::string_view(line_).substr(start, comma - start));
  cells_.push_back(std::string_view(line_).substr(start));
}

void CsvStream::split_quoted() {
  unquoted_.assign(1, "");
  bool quoted = false;
  for (std::size_t i = 0; i < line_.size(); ++i) {
    if (line_[i] == '"' && quoted && i + 1 < line_.size() && line_[i + 1] == '"')
      unquoted_.back() += line_[++i];
    else if (line_[i] == '"')
      quoted = !quoted;
    else if (line_[i] == ',' && !quoted)
      unquoted_.emplace_back();
    else
      unquoted_.back() += line_[i];
  }
  cells_.assign(unquoted_.begin(), unquoted_.end());
}

double CsvStream::number(std::size_t column) const {
  const auto value = parse_number<double>(text(column));
  if (!value) fail(fmt::format("has \"{}\" for a number in \"{}\"", text(column), columns_[column]));
  return *value;
}

std::int64_t CsvStream::integer(std::size_t column) const {
  const auto value = parse_number<std::int64_t>(text(column));
  if (!value) fail(fmt::format("has \"{}\" for an integer in \"{}\"", text(column), columns_[column]));
  return *value;
}

void CsvStream::refuse(std::size_t column, std::int64_t least, std::int64_t most) const {
  fail(fmt::format("has {} in \"{}\"; allowed: an integer from {} to {}", text(column), columns_[column],
                   least, most));
}

void CsvStream::fail(const std::string& what) const {
  throw DamagedFile(fmt::format("{}: line {} {}", file_, line_number_, what));
}

std::map<std::string, std::vector<double>> read_numbers(const std::string& file,
                                                        const std::vector<std::string>& columns) {
  std::map<std::string, std::vector<double>> numbers;
  for (CsvStream rows(file, columns); rows.next();)
    for (std::size_t i = 0; i < columns.size(); ++i) numbers[columns[i]].push_back(rows.number(i));
  return numbers;
}

}  // namespace longhaul
