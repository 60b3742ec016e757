// Run directories: what stands at their top (summary.json and the joined tables of the cases), and opening
// them for a command that takes several: what cannot be read is named, and the others are still used.
//
// Shards of one scenario become one run, as if it had been run in one: directories whose manifests name the
// same scenario (hash) and different shards of the same split. Cases then stand in the order of the scenario
// and its claims are judged over all of them; while a shard is missing every claim is undecided.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/options.h"

namespace longhaul {

struct RunDirectory {
  std::string folder;         // for people: of shards that were joined all of them
  Json summary;               // as read_summary gives it
  Json manifest;              // {} where it is missing or damaged
  Json written;               // scenario.json; null where it is missing or damaged
  std::vector<Json> records;  // of summary["cases"]: objects that have at least a `case`

  std::map<std::string, std::string> shard_folders = {};  // by case, where shards were joined
  std::vector<std::string> missing_shards = {};           // "2/3", of a scenario that was split
  std::size_t missing_cases = 0;                          // in these

  std::string case_folder(const Json& record) const;
  // Of the scenario; [] where it is missing.
  Json claims() const;
  // "" for a case that trains nothing.
  std::string train_folder(const Json& record) const;

 private:
  std::string folder_of(const Json& record) const;
};

struct RunDirectories {
  std::vector<RunDirectory> runs;     // those that could be opened, in the order given; one without cases too
  std::vector<std::string> problems;  // one sentence for each that could not, and for what is damaged in one
};

// A folder that is no run, that is given twice, that is damaged or of a newer format is a problem; a run
// without cases and a record that is no record are problems too. Throws InputError, with all of the problems,
// where not one run is left that has a case. Shards are joined.
RunDirectories open_runs(const std::vector<std::string>& folders);

// "Not given: 2/3; what is said below is of the cases that are there": of a run with missing shards.
std::string not_given_in_words(const RunDirectory& run);
// A sentence for each run that lacks shards, with its folder where there are several runs.
std::vector<std::string> not_given_notes(const std::vector<RunDirectory>& runs);

// The records of all runs, one after the other.
std::vector<Json> all_records(const std::vector<RunDirectory>& runs);

constexpr int kSummaryFormat = 1;

// Writes RUN_FOLDER/summary.json: {"format", "scenario", "scenario_cases", "cases": records, "claims":
// verdicts}. `scenario_cases`: of the whole scenario, where this run is a shard of it. Throws RunError.
void write_summary(const std::string& run_folder, const std::string& scenario_name,
                   const std::vector<Json>& records, const Json& claims = Json::array(),
                   std::size_t scenario_cases = 0);

// Throws DamagedFile that names the folder if it is no run, its summary is damaged or of a newer format.
Json read_summary(const std::string& run_folder);

// Writes metrics.csv, exchanges.csv and links.csv of the run: those of the cases with a leading column
// `case`, in the order given. A case without the file (nothing trained, not finished) adds no rows. Throws
// RunError.
void join_tables(const std::string& run_folder, const std::vector<std::string>& case_names);

}  // namespace longhaul
