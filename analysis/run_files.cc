#include "analysis/run_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

// None where the cell holds anything else.
template <typename Number>
std::optional<Number> parsed(std::string_view cell) {
  Number value = 0;
  const auto [rest, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || rest != cell.data() + cell.size()) return std::nullopt;
  return value;
}

}  // namespace

Json read_json_or_null(const std::string& file) {
  if (!std::filesystem::exists(file)) return nullptr;
  const std::optional<std::string> text = read_file(file);
  if (!text) throw DamagedFile(file + ": cannot be read");
  return reading(file, [&] { return parse_json(*text); });
}

Json read_json_or_null(const std::string& file, const Node& declaration) {
  Json json = without_null_numbers(declaration, read_json_or_null(file));
  if (!json.is_null()) reading(file, [&] { check_declared(declaration, json, ""); });
  return json;
}

Json without_null_numbers(const Node& section, Json json) {
  if (!json.is_object()) return json;
  for (const Node& child : section.children) {
    const auto found = json.find(child.key);
    if (found == json.end()) continue;
    const bool is_section = child.kind == NodeKind::kSection;
    if (found->is_null() && (is_section || child.kind == NodeKind::kNumber))
      json.erase(found);
    else if (is_section)
      *found = without_null_numbers(child, std::move(*found));
  }
  return json;
}

std::string cut_off(const std::string& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in || in.tellg() <= 0) return "";
  in.seekg(-1, std::ios::end);
  if (in.get() == '\n') return "";
  in.clear();
  in.seekg(0);
  const auto ends = std::count(std::istreambuf_iterator<char>(in), {}, '\n');
  return fmt::format("{}: is cut off, its last line ({}) has no end", file, ends + 1);
}

void write_file(const std::string& file, const std::string& text) {
  ReplacedFile replaced(file);
  replaced.stream() << text;
  replaced.commit();
}

ReplacedFile::ReplacedFile(const std::string& file) : file_(file), out_(file + ".part", std::ios::binary) {
  if (!out_) throw unwritable(file_);
}

void ReplacedFile::commit() {
  out_.close();
  if (!out_) throw unwritable(file_);
  std::error_code error;
  std::filesystem::rename(file_ + ".part", file_, error);
  if (error) throw RunError(file_ + ": cannot be written: " + error.message());
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
  const auto value = parsed<double>(text(column));
  if (!value) fail(fmt::format("has \"{}\" for a number in \"{}\"", text(column), columns_[column]));
  return *value;
}

std::int64_t CsvStream::integer(std::size_t column) const {
  const auto value = parsed<std::int64_t>(text(column));
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

}  // namespace longhaul
