// Who works where, among processes of one machine or of several that share a file system.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace longhaul {

// A lock file of one line: host, boot, pid, time. It is made where none is of that name,
// by linkat or O_EXCL, which holds between machines also where their flock is each machine's own (NFS with
// nolock, BeeGFS); its holder keeps an flock on it and renews its date. It goes with this object. Of a dead
// holder it is taken over: at once on the machine where it ran, since its flock is free there; from another
// machine once its date is three minutes old (clocks are to agree to a minute).
class Claim {
 public:
  // Makes the folder of `file`. None where another process holds it. Throws RunError where it cannot be made.
  static std::unique_ptr<Claim> take(const std::string& file);
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

 private:
  Claim(std::string file, int descriptor);
  void renew();

  const std::string file_;
  const int descriptor_;
  std::mutex mutex_;
  std::condition_variable released_;
  bool is_released_ = false;
  std::thread renewal_;
};

// Who holds it: "pid 12 on host a, since 2026-01-31T12:00:00Z"; "" where no living process does.
std::string holder_of(const std::string& file);

// Whether a child writes this folder: it holds FOLDER/.lock (FolderLock). One that was killed does not.
bool is_live(const std::string& job_folder);

// The claim of a job in a run directory, cases/CASE or train/KEY: FOLDER/.claim.
std::string claim_of(const std::string& job_folder);

// The first of them that is held, "cases/CASE: pid 12 …"; "" where none is.
std::string worker_in(const std::string& run_folder);

// Removes those that dead workers have left. Workers that begin meanwhile see who holds the run directory.
void remove_claims(const std::string& run_folder);

}  // namespace longhaul
