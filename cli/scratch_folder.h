// A folder of the system's temporary ones that goes with the object that made it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "core/base/errors.h"

namespace longhaul {

class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& name)
      : path((std::filesystem::temp_directory_path() / ("longhaul-" + name + "-XXXXXX")).string()) {
    if (!mkdtemp(path.data())) throw RunError(path + ": no folder could be made");
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string path;
};

}  // namespace longhaul
