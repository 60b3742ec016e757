#include "trainer/checkpoint/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

// Pipes and devices cannot be forced; they say EINVAL.
bool forced(int descriptor) {
  return ::fsync(descriptor) == 0 || errno == EINVAL;
}

}  // namespace

DurableFile::DurableFile(const std::string& file)
    : file_(file),
      temporary_(file + ".tmp"),
      descriptor_(::open(temporary_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) fail();
}

DurableFile::~DurableFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());  // a full disk gets its space back
}

void DurableFile::write(const void* bytes, std::size_t count) {
  const char* next = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::write(descriptor_, next, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    next += written;
    count -= as_index(written);
  }
}

void DurableFile::commit() {
  if (!forced(descriptor_) || std::rename(temporary_.c_str(), file_.c_str()) != 0) fail();
  ::close(descriptor_);
  descriptor_ = -1;
  const std::string folder = std::filesystem::path(file_).parent_path().string();
  force_to_disk(folder.empty() ? "." : folder);
}

void DurableFile::fail() const {
  throw RunError(file_ + ": cannot be written: " + std::strerror(errno));
}

void write_durably(const std::string& file, const std::string& text) {
  DurableFile out(file);
  out.write(text.data(), text.size());
  out.commit();
}

void force_to_disk(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done = descriptor >= 0 && forced(descriptor);
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!done) throw RunError(path + ": cannot be written: " + std::strerror(error));
}

}  // namespace longhaul
