#include "analysis/csv_stream.h"

#include <algorithm>
#include <charconv>

#include "core/errors.h"
#include "core/index.h"

namespace longhaul {

CsvStream::CsvStream(const std::string& file, const std::vector<std::string>& columns)
    : file_(file), in_(file) {
  if (!in_) throw RunError(file + ": cannot be read");
  if (!read_line()) return;  // still being written, or killed before its header
  split();
  width_ = cells_.size();
  for (const std::string& column : columns) {
    const auto found = std::find(cells_.begin(), cells_.end(), column);
    if (found == cells_.end()) throw RunError(file + ": has no column \"" + column + "\"");
    order_.push_back(as_index(found - cells_.begin()));
  }
}

bool CsvStream::next() {
  if (width_ == 0 || !read_line()) return false;
  split();
  if (cells_.size() != width_)
    fail("has " + std::to_string(cells_.size()) + " cells, the header " + std::to_string(width_));
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
  const std::string_view cell = text(column);
  double value = 0;
  const auto [rest, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || rest != cell.data() + cell.size())
    fail("has \"" + std::string(cell) + "\" for a number");
  return value;
}

std::int64_t CsvStream::integer(std::size_t column) const {
  const std::string_view cell = text(column);
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || rest != cell.data() + cell.size())
    fail("has \"" + std::string(cell) + "\" for an integer");
  return value;
}

void CsvStream::fail(const std::string& what) const {
  throw RunError(file_ + ": line " + std::to_string(line_number_) + " " + what);
}

}  // namespace longhaul
