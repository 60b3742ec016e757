// A disk that fills up.
#pragma once

#include <sys/mount.h>

#include <string>
#include <utility>

namespace longhaul {

// A file system of 8 MB at `folder`, for as long as it lives: a test that fails leaves no mount behind.
class SmallDisk {
 public:
  explicit SmallDisk(std::string folder)
      : folder_(std::move(folder)), mounted_(mount("none", folder_.c_str(), "tmpfs", 0, "size=8m") == 0) {}
  ~SmallDisk() {
    if (mounted_) umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }  // only root can

 private:
  std::string folder_;
  bool mounted_;
};

}  // namespace longhaul
