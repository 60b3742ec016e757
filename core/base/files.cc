#include "core/base/files.h"

#include <glob.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace longhaul {

std::vector<std::string> files_matching(const std::string& pattern, const std::string& folder) {
  const std::string full = std::filesystem::path(pattern).is_absolute() ? pattern : folder + "/" + pattern;
  glob_t found{};
  std::vector<std::string> files;
  if (::glob(full.c_str(), GLOB_TILDE, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i)
      if (std::filesystem::is_regular_file(found.gl_pathv[i])) files.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  return files;
}

std::optional<std::string> read_file(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  if (std::filesystem::is_directory(file) || !in) return std::nullopt;
  // Of no characters << would say that it failed; an error of the first ones sets badbit.
  const bool is_empty = in.peek() == std::ifstream::traits_type::eof();
  if (in.bad() || (!is_empty && !(text << in.rdbuf()))) return std::nullopt;
  return text.str();
}

std::string why_unreadable(const std::string& file) {
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown)) return "is a folder";
  return std::filesystem::exists(file, unknown) || unknown ? "cannot be read" : "does not exist";
}

bool is_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

RunError unwritable(const std::string& file) {
  const int reason = errno;
  std::string text = file + ": cannot be written";
  text += reason == 0 ? " (is the disk full?)" : std::string(": ") + std::strerror(reason);
  if (reason == EFBIG) text += " (is there a limit on the size of files, ulimit -f?)";
  if (reason == EMFILE) text += " (ulimit -n; fewer --jobs)";
  return RunError(text);
}

RunError unlockable(const std::string& file, int reason) {
  return RunError(file + ": cannot be locked: " + std::strerror(reason) +
                  " (does its file system have locks? name a folder on another one)");
}

}  // namespace longhaul
