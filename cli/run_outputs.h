// What a run writes into its directory (docs/formats.md) from the files of its trainings and replays: tables,
// summary, report and manifest.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "checks/work_estimate.h"
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

  // Of a report alone: command, times and status stay those of what made the cases, which `before` is the
  // manifest of.
  void keep(const Json& before);
  void set_option(const std::string& key, Json value);
  void add_wall_time(const std::string& kind, const std::string& name,
                     double seconds);  // kind: trainings, replays
  // Reads what the trainer says of each training (train/KEY/training.json): corpus hash, BLAS, parameters.
  void write(const RunLayout& layout, const WorkPlan& plan, const std::string& status);

 private:
  void write_json(const RunLayout& layout) const;

  Json json_;
  bool is_kept_ = false;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string utc_now();  // "2026-01-31T12:00:00Z"
std::string host_name();

}  // namespace longhaul
