#include "trainer/data/system_headers.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "core/errors.h"
#include "core/glob.h"
#include "core/hash.h"
#include "trainer/data/text_files.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

// Links are left out: what they point to is read where it lies.
void add_tree(const fs::path& folder, std::vector<std::string>& files) {
  std::error_code missing;
  for (fs::recursive_directory_iterator at(folder, missing), end; at != end; at.increment(missing))
    if (at->symlink_status().type() == fs::file_type::regular) files.push_back(at->path().string());
}

void add_headers(const fs::path& folder, std::vector<std::string>& files) {
  for (const std::string& file : files_matching("*.h", folder.string()))
    if (!fs::is_symlink(file)) files.push_back(file);
}

void sort_by_hash(const std::string& include, std::vector<std::string>& files) {
  std::vector<std::pair<std::uint64_t, std::string>> keyed;
  for (std::string& file : files) {
    const std::uint64_t hash = fnv1a(std::string_view(file).substr(include.size()));
    keyed.push_back({hash, std::move(file)});
  }
  std::sort(keyed.begin(), keyed.end());
  std::transform(keyed.begin(), keyed.end(), files.begin(),
                 [](auto& pair) { return std::move(pair.second); });
}

}  // namespace

TokenText read_system_headers(const std::string& include) {
  std::vector<std::string> files;
  add_headers(include, files);
  for (const char* folder : {"c++", "linux", "asm-generic"}) add_tree(fs::path(include) / folder, files);
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(include, missing))
    if (entry.path().filename().string().find("-linux-") != std::string::npos)
      for (const char* folder : {"bits", "sys", "gnu", "asm"}) add_tree(entry.path() / folder, files);
  sort_by_hash(include, files);
  if (files.empty())
    throw InputError({"", "train.data.corpus", "no header was found in " + include,
                      "a machine with a C++ compiler",
                      "install g++ (Debian: build-essential), or name files with train.data.text"});
  return read_bytes(files, kSystemHeadersLargest);
}

}  // namespace longhaul
