// A folder of the system's temporary ones that goes with the object that made it; and with the process,
// however that ends: a child of its own waits for that.
#pragma once

#include <sys/types.h>

#include <string>

namespace longhaul {

class ScratchFolder {
 public:
  // Throws RunError.
  explicit ScratchFolder(const std::string& name);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string path;

 private:
  int alive_ = -1;     // this process's end of a pipe, which its death closes
  pid_t keeper_ = -1;  // the child at the other end
};

}  // namespace longhaul
