#include "cli/claim.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <vector>

#include "cli/run_outputs.h"
#include "core/base/errors.h"
#include "core/base/files.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kRenewal{20};
constexpr double kDeadAfter_s = 180;

// Processes of one boot see each other's flocks, whatever the file system.
std::string this_boot() {
  const std::string id = read_file("/proc/sys/kernel/random/boot_id").value_or("?");
  return id.substr(0, id.find('\n'));
}

struct Holder {
  std::string host, boot, pid, since;  // empty in a file that has just been made
  double age_s = 0;                    // since its date was renewed
  bool is_locked = false;              // by a process of this machine, or of any where flock is shared

  bool is_alive() const {
    return is_locked || (age_s < kDeadAfter_s && (boot.empty() || boot != this_boot()));
  }
};

// Leaves the flock with the descriptor if it was free.
Holder look_at(const std::string& file, int descriptor, int kind_of_lock) {
  Holder holder;
  holder.is_locked = flock(descriptor, kind_of_lock | LOCK_NB) != 0;
  if (holder.is_locked && errno != EWOULDBLOCK && errno != EINTR) throw unlockable(file, errno);
  char text[512] = "";
  const ssize_t count = pread(descriptor, text, sizeof text - 1, 0);
  std::istringstream words(std::string(text, count > 0 ? static_cast<std::size_t>(count) : 0));
  words >> holder.host >> holder.boot >> holder.pid >> holder.since;
  struct stat status {};
  fstat(descriptor, &status);
  holder.age_s = std::difftime(std::time(nullptr), status.st_mtime);
  return holder;
}

// Whether the name still leads to what is open: its holder may have removed it.
bool is_still(const std::string& file, int descriptor) {
  struct stat named {
  }, opened{};
  return stat(file.c_str(), &named) == 0 && fstat(descriptor, &opened) == 0 &&
         named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

void write_line(const std::string& file, int descriptor) {
  const std::string line = fmt::format("{} {} {} {}\n", host_name(), this_boot(), getpid(), utc_now());
  // Never empty in between: a dead holder's line is written over.
  if (pwrite(descriptor, line.data(), line.size(), 0) != static_cast<ssize_t>(line.size()) ||
      ftruncate(descriptor, static_cast<off_t>(line.size())) != 0) {
    const RunError error = unwritable(file);
    close(descriptor);
    throw error;
  }
}

// Of no file nobody.
Holder look_at(const std::string& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  Holder holder;
  holder.age_s = kDeadAfter_s;
  if (descriptor < 0) return holder;
  holder = look_at(file, descriptor, LOCK_SH);
  close(descriptor);
  return holder;
}

std::vector<fs::path> job_folders(const std::string& run_folder) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const char* kind : {"cases", "train"})
    for (const auto& entry : fs::directory_iterator(fs::path(run_folder) / kind, ignored))
      folders.push_back(entry.path());
  return folders;
}

}  // namespace

namespace {

enum class Made { kYes, kExists, kNotHere };

// The file appears with its lock and its line, so that who dies meanwhile leaves nothing behind. kNotHere:
// the file system (NFS, for one) has no files without names.
Made make_whole(const std::string& file, int& descriptor) {
  descriptor = open(fs::path(file).parent_path().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);
  if (descriptor < 0) return Made::kNotHere;
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
    write_line(file, descriptor);
    const std::string opened = fmt::format("/proc/self/fd/{}", descriptor);
    if (linkat(AT_FDCWD, opened.c_str(), AT_FDCWD, file.c_str(), AT_SYMLINK_FOLLOW) == 0) return Made::kYes;
  }
  const bool exists = errno == EEXIST;
  close(descriptor);
  return exists ? Made::kExists : Made::kNotHere;
}

// Who dies before the line is written leaves an empty file, of a holder that lives for three minutes.
Made make_empty(const std::string& file, int& descriptor) {
  descriptor = open(file.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
  if (descriptor < 0 && errno == EEXIST) return Made::kExists;
  if (descriptor < 0) throw unwritable(file);
  // One that looks at it may have the lock for this moment: it is waited for.
  int locked;
  while ((locked = flock(descriptor, LOCK_EX)) != 0 && errno == EINTR) {
  }
  if (locked != 0) {
    const int reason = errno;
    unlink(file.c_str());
    close(descriptor);
    throw unlockable(file, reason);
  }
  write_line(file, descriptor);
  return Made::kYes;
}

bool take_over_from_the_dead(const std::string& file, int& descriptor) {
  descriptor = open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0 && errno != ENOENT) throw unwritable(file);
  if (descriptor < 0) return false;  // removed at this moment: the next look takes it
  if (look_at(file, descriptor, LOCK_EX).is_alive() || !is_still(file, descriptor)) {
    close(descriptor);
    return false;
  }
  write_line(file, descriptor);
  return true;
}

}  // namespace

std::unique_ptr<Claim> Claim::take(const std::string& file) {
  std::error_code error;
  const fs::path folder = fs::path(file).parent_path();
  fs::create_directories(folder, error);
  if (error) throw RunError(folder.string() + ": cannot be made: " + error.message());
  int descriptor = -1;
  Made made = make_whole(file, descriptor);
  if (made == Made::kNotHere) made = make_empty(file, descriptor);
  if (made == Made::kExists && !take_over_from_the_dead(file, descriptor)) return nullptr;
  return std::unique_ptr<Claim>(new Claim(file, descriptor));
}

Claim::Claim(std::string file, int descriptor)
    : file_(std::move(file)), descriptor_(descriptor), renewal_([this] { renew(); }) {}

void Claim::renew() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!released_.wait_for(lock, kRenewal, [this] { return is_released_; })) futimens(descriptor_, nullptr);
}

Claim::~Claim() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_released_ = true;
  }
  released_.notify_one();
  renewal_.join();
  if (is_still(file_, descriptor_)) unlink(file_.c_str());
  close(descriptor_);
}

std::string holder_of(const std::string& file) {
  const Holder holder = look_at(file);
  if (!holder.is_alive()) return "";
  return holder.pid.empty()
             ? "a process that has just begun"
             : fmt::format("pid {} on host {}, since {}", holder.pid, holder.host, holder.since);
}

bool is_live(const std::string& job_folder) {
  return look_at(job_folder + "/.lock").is_locked;
}

std::string claim_of(const std::string& job_folder) {
  return job_folder + "/.claim";
}

std::string worker_in(const std::string& run_folder) {
  for (const fs::path& folder : job_folders(run_folder))
    if (const std::string who = holder_of(claim_of(folder)); !who.empty())
      return fmt::format("{}: {}", fs::relative(folder, run_folder).string(), who);
  return "";
}

void remove_claims(const std::string& run_folder) {
  for (const fs::path& folder : job_folders(run_folder)) fs::remove(claim_of(folder));
}

}  // namespace longhaul
