// What a run writes into its directory (docs/formats.md) from the files of its trainings and replays: tables,
// summary, report and manifest.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cli/work_estimate.h"
#include "core/scenario/case.h"
#include "core/scenario/scenario.h"

namespace longhaul {

struct RunOptions;

// Where things are in a run directory.
struct RunLayout {
  std::string folder;

  std::string file(const std::string& name) const { return folder + "/" + name; }
  std::string case_folder(const Case& config) const { return folder + "/cases/" + config.name; }
  std::string training_folder(const std::string& key) const { return folder + "/train/" + key; }
  // Empty where the case trains nothing.
  std::string training_folder(const Case& config) const;
};

constexpr char kWholeShard[] = "1/1";

// The folder of a run: free, or with the same scenario, which is to be continued. Throws InputError.
std::string choose_folder(const RunOptions& options, const Scenario& scenario, const WorkPlan& plan);

// Removes what a run has written into its folder; anything else stays.
void remove_run(const std::string& folder);

bool is_done(const std::string& folder);  // FOLDER/done exists

// The path of `longhaul-train` or `longhaul-sim` beside this executable. Throws RunError if it was not built.
std::string sibling_executable(const std::string& name);

// After a replay: joins the case with its training (metrics.csv), keeps its tables or its totals alone and,
// last, writes `done`.
void finish_case(const RunLayout& layout, const Case& config, bool keeps_tables);

// summary.json, metrics.csv, exchanges.csv, links.csv and report.html from what is on disk. `failures`: by
// case name, what went wrong; any other case that is not done is "interrupted".
void write_outputs(const RunLayout& layout, const Scenario& scenario, const std::vector<const Case*>& cases,
                   const std::map<std::string, std::string>& failures);

// manifest.json: everything needed to know what ran, and the only place (besides logs) for wall times, dates
// and host names.
class Manifest {
 public:
  Manifest(const Scenario& scenario, const std::vector<std::string>& command);

  void set_option(const std::string& key, Json value);
  void add_wall_time(const std::string& kind, const std::string& name,
                     double seconds);  // kind: trainings, replays
  // Reads what the trainer says of each training (train/KEY/training.json): corpus hash, BLAS, parameters.
  void write(const RunLayout& layout, const WorkPlan& plan, const std::string& status);

 private:
  Json json_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string utc_now();  // "2026-01-31T12:00:00Z"
std::string host_name();

// Who works where, among processes of one machine or of several that share a file system.
//
// A lock file of one line: host, boot, pid, time. It is made by O_EXCL, which holds between machines also
// where their flock is each machine's own (NFS with nolock, BeeGFS); its holder keeps an flock on it and
// renews its date. It goes with this object. Of a dead holder it is taken over: at once on the machine where
// it ran, since its flock is free there; from another machine once its date is three minutes old (clocks are
// to agree to a minute).
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
