// Runs children, some at a time, and watches them.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "cli/live_display.h"
#include "core/base/options.h"

namespace longhaul {

// With children that were told to stop: more than they allow themselves (kSecondsToLook), and time for a last
// checkpoint.
constexpr std::chrono::seconds kPatience{600};

struct Job {
  std::string name;                    // for people: "train noloco-…", or the case's name
  std::string folder;                  // which it writes; log.txt goes there
  std::vector<std::string> arguments;  // the command line
  double weight = 1;                   // of the phase's work, for the ETA
  bool is_mpirun = false;              // as of ChildProcess
};

struct JobResult {
  int exit_status = -1;  // -1: never started
  std::string error;     // what the child said
  Json result;
  double wall_s = 0;
};

// Runs all jobs, at most `parallel` at a time, in order; `finished` is called as each ends. After an
// interrupt no new job is started and the running ones are waited for (a second interrupt kills them, and so
// does the end of `patience`); after a job that says its input is wrong no new one is started either.
std::vector<JobResult> run_jobs(const std::vector<Job>& jobs, int parallel, const std::string& phase,
                                LiveDisplay& display,
                                const std::function<void(std::size_t, const JobResult&)>& finished,
                                std::chrono::seconds patience = kPatience);

}  // namespace longhaul
