#include "planner/measurement_files.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "core/base/json.h"
#include "core/base/units.h"
#include "planner/gunzip.h"
#include "planner/measured/formats.h"
#include "planner/measured/matrix.h"
#include "planner/measured/text.h"
#include "planner/planned_network.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& endings() {
  static const std::vector<std::string> all = {".json", ".txt", ".csv",   ".tsv",
                                               ".log",  ".out", ".jsonl", ".gz"};
  return all;
}

bool is_pattern(const std::string& text) {
  return text.find_first_of("*?[") != std::string::npos;
}

bool is_there(const fs::path& path) {
  std::error_code unknown;
  return fs::exists(path, unknown);
}

bool is_folder(const fs::path& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown);
}

bool has_known_ending(const fs::path& file) {
  const std::string ending = measured::lower_case(file.extension().string());
  return std::find(endings().begin(), endings().end(), ending) != endings().end();
}

std::vector<std::string> files_in_folder(const std::string& folder) {
  std::vector<std::string> files;
  const auto options = fs::directory_options::skip_permission_denied;
  for (const auto& entry : fs::recursive_directory_iterator(folder, options)) {
    std::error_code unknown;
    const bool is_hidden = entry.path().filename().string()[0] == '.';
    if (!is_hidden && has_known_ending(entry.path()) && entry.is_regular_file(unknown))
      files.push_back(entry.path().lexically_normal().string());
  }
  std::sort(files.begin(), files.end());
  if (files.empty())
    throw measured::of_file(folder, "is a folder without measurements",
                            "files whose names end in " + join(endings()));
  return files;
}

// In no order; none of what cannot be opened.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code unreadable;
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, unreadable))
    entries.push_back(folder / entry.path().filename());
  return entries;
}

// What `base` and the pattern's parts from `part` on stand for; ** is any number of folders.
void expand(const fs::path& base, const std::vector<fs::path>& parts, std::size_t part,
            std::vector<std::string>& found) {
  if (part == parts.size()) {
    found.push_back(base.string());
    return;
  }
  const std::string pattern = parts[part].string();
  if (!is_pattern(pattern)) {
    if (is_there(base / pattern)) expand(base / pattern, parts, part + 1, found);
    return;
  }
  const bool is_last = part + 1 == parts.size(), is_any_depth = pattern == "**";
  if (is_any_depth && !is_last) expand(base, parts, part + 1, found);
  for (const fs::path& entry : entries_of(base)) {
    const std::string name = entry.filename().string();
    if (fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) != 0) continue;
    const bool is_inner = is_folder(entry);
    if (is_any_depth && is_inner && !fs::is_symlink(entry)) expand(entry, parts, part, found);
    if (is_last ? !(is_any_depth && is_inner) : is_inner && !is_any_depth)
      expand(entry, parts, part + 1, found);
  }
}

std::vector<std::string> files_of_pattern(const std::string& pattern) {
  const fs::path path(pattern), below = path.relative_path();
  const std::vector<fs::path> parts(below.begin(), below.end());
  std::vector<std::string> found;
  expand(path.root_path(), parts, 0, found);
  std::sort(found.begin(), found.end());
  if (found.empty()) throw measured::of_file(pattern, "matches no file");
  return found;
}

InputError unreadable(const std::string& file, int reason) {
  if (reason == ENOENT)
    return measured::of_file(file, "does not exist", "a file that a measurement wrote, or a folder of them");
  return measured::of_file(file, fmt::format("cannot be read: {}", std::strerror(reason)));
}

}  // namespace

std::vector<std::string> measurement_files(const std::vector<std::string>& named) {
  std::vector<std::string> files;
  for (const std::string& one : named) {
    std::vector<std::string> of = {one};
    if (is_folder(one))
      of = files_in_folder(one);
    else if (!is_there(one) && is_pattern(one))
      of = files_of_pattern(one);
    files.insert(files.end(), of.begin(), of.end());
  }
  return measured::unique(files);
}

measured::MeasurementFile read_measurement_file(const std::string& file) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> open(std::fopen(file.c_str(), "rb"), std::fclose);
  if (!open) throw unreadable(file, errno);
  std::string bytes;
  std::vector<char> piece(std::size_t{1} << 16);
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), open.get())) {
    bytes.append(piece.data(), count);
    if (bytes.size() > kLargestJson)
      throw measured::of_file(
          file, fmt::format("has more than {}", human_bytes(static_cast<double>(kLargestJson))));
  }
  if (std::ferror(open.get()) != 0) throw unreadable(file, errno);
  try {
    if (is_gzip(bytes)) bytes = gunzip(bytes);
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
  return {file, bytes};
}

std::vector<measured::Measured> read_measurements(const std::vector<std::string>& named,
                                                  const measured::Sites& sites) {
  std::vector<measured::Measured> found;
  for (const std::string& file : measurement_files(named))
    for (measured::Measured& one : measured::read(read_measurement_file(file), sites))
      found.push_back(std::move(one));
  return found;
}

Json measured_sites(const PlanRequest& plan, std::vector<std::string>& warnings) {
  for (const std::string& file : plan.measurements)
    if (!fs::exists(file) && !is_pattern(file))
      throw InputError(
          "measurements", "there is no file " + file,
          "what iperf3 --json, nccl-tests or ping printed, a table (.csv), or a folder or a glob "
          "of such files (\"iperf/*.json\"), relative to the plan's folder");
  try {
    const measured::Known known = known_of_sites(plan);
    return matrix_of(read_measurements(plan.measurements, measured::Sites(known.sites)), known, warnings);
  } catch (const InputError& error) {
    throw InputError("measurements", error.what(), "");
  }
}

}  // namespace longhaul
