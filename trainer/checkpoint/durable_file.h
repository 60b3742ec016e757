// A file that is the old one or the whole new one, whatever happens: written under a temporary name, forced
// to the disk, then renamed over the old one.
#pragma once

#include <cstddef>
#include <string>

namespace longhaul {

// All of it throws RunError that names the file and says what the system said.
class DurableFile {
 public:
  explicit DurableFile(const std::string& file);  // opens FILE.tmp
  ~DurableFile();                                 // removes FILE.tmp unless it was committed
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  void write(const void* bytes, std::size_t count);
  void commit();

 private:
  [[noreturn]] void fail() const;

  std::string file_, temporary_;
  int descriptor_;
};

// A whole file, through a DurableFile.
void write_durably(const std::string& file, const std::string& text);

// Forces what was written to a file, or the entries of a folder, to the disk.
void force_to_disk(const std::string& path);

}  // namespace longhaul
