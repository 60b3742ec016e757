// A disk that fills up.
#pragma once

#include <sys/mount.h>

#include <cstddef>
#include <string>
#include <utility>

namespace longhaul {

// A file system of so many bytes at `folder`, for as long as it lives.
class SmallDisk {
 public:
  SmallDisk(std::string folder, std::size_t bytes)
      : folder_(std::move(folder)),
        mounted_(mount("none", folder_.c_str(), "tmpfs", 0, ("size=" + std::to_string(bytes)).c_str()) == 0) {
  }
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
