#include "analysis/run_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/base/errors.h"
#include "core/base/files.h"

namespace longhaul {
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

// A terminal, a pipe or another device is written in place: a file in its stead would be no such thing any
// more.
ReplacedFile::ReplacedFile(const std::string& file) : file_(file) {
  std::error_code unknown;
  is_in_place_ = std::filesystem::is_other(std::filesystem::status(file, unknown));
  out_.open(is_in_place_ ? file : file + ".part", std::ios::binary);
  if (!out_) throw unwritable(file_);
}

void ReplacedFile::commit() {
  out_.close();
  if (!out_) throw unwritable(file_);
  if (is_in_place_) return;
  std::error_code error;
  std::filesystem::rename(file_ + ".part", file_, error);
  if (error) throw RunError(file_ + ": cannot be written: " + error.message());
}

}  // namespace longhaul
