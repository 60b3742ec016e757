#include "cli/output_place.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/base/errors.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

// Why not; "" where it exists now.
std::string why_not_made(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return error.message();
  if (!fs::is_directory(folder, error)) return "it is a file";
  return access(folder.c_str(), W_OK) == 0 ? "" : std::strerror(errno);
}

// As write_file() does it: under another name, but a device in place.
std::string why_not_written(const std::string& file) {
  std::error_code unknown;
  const fs::file_status found = fs::status(file, unknown);
  if (fs::is_other(found)) return access(file.c_str(), W_OK) == 0 ? "" : std::strerror(errno);
  if (fs::is_directory(found)) return "it is a folder";
  const std::string part = file + ".part";
  const bool is_open = std::ofstream(part, std::ios::app).is_open();
  const int reason = errno;
  if (is_open) fs::remove(part, unknown);
  return is_open ? "" : std::strerror(reason);
}

}  // namespace

std::string made_folder(const std::string& option, const std::string& folder) {
  if (const std::string why = why_not_made(folder); !why.empty())
    throw InputError(option, fmt::format("{} cannot be made ({})", folder, why),
                     "a folder that can be written to");
  return folder;
}

void check_holds_no_run(const std::string& option, const std::string& folder) {
  std::error_code unknown;
  if (fs::exists(folder + "/scenario.json", unknown))
    throw InputError(option, folder + " already holds a run", "a new folder");
}

void check_output_file(const std::string& option, const std::string& file) {
  std::string why = why_not_made(fs::absolute(fs::path(file)).parent_path());
  if (why.empty()) why = why_not_written(file);
  if (!why.empty())
    throw InputError(option, fmt::format("{} cannot be written ({})", file, why),
                     "a file in a folder that can be written to");
}

}  // namespace longhaul
