#include "cli/run_layout.h"

#include <filesystem>
#include <fstream>

#include "core/errors.h"
#include "methods/common/training_key.h"

namespace longhaul {

namespace fs = std::filesystem;

std::string RunLayout::training_folder(const Case& one) const {
  return one.train ? training_folder(training_key(one)) : "";
}

bool is_done(const std::string& folder) {
  return fs::exists(folder + "/done");
}

void write_file(const std::string& file, const std::string& text) {
  const std::string temporary = file + ".part";
  {
    std::ofstream out(temporary, std::ios::binary);
    out << text;
    out.flush();
    if (!out) throw RunError(file + ": cannot be written (is the disk full, or the folder not writable?)");
  }
  std::error_code error;
  fs::rename(temporary, file, error);
  if (error) throw RunError(file + ": cannot be written: " + error.message());
}

std::string sibling_executable(const std::string& name) {
  const fs::path file = fs::read_symlink("/proc/self/exe").parent_path() / name;
  if (!fs::exists(file))
    throw RunError(file.string() + " does not exist: this build of Longhaul was made without it; install " +
                   (name == "longhaul-sim" ? "ns-3 (libns3-dev ns3)" : "LibTorch (libtorch-dev)") +
                   " and build again");
  return file.string();
}

}  // namespace longhaul
