// Turns the files of trainings and replays into the tables, the summary and the report of a run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/timeline.h"
#include "cli/work_plan.h"
#include "core/case.h"

namespace longhaul {

// Where things are in a run directory (docs/formats.md).
struct RunLayout {
  std::string folder;

  std::string file(const std::string& name) const { return folder + "/" + name; }
  std::string case_folder(const Case& one) const { return folder + "/cases/" + one.name; }
  std::string training_folder(const std::string& key) const { return folder + "/train/" + key; }
  // Empty where the case trains nothing.
  std::string training_folder(const Case& one) const;
};

bool is_done(const std::string& folder);  // FOLDER/done exists

// Writes to a temporary name and renames, so that a reader never sees half a file. Throws RunError.
void write_file(const std::string& file, const std::string& text);

// The path of `longhaul-train` or `longhaul-sim` beside this executable. Throws RunError if it was not built.
std::string sibling_executable(const std::string& name);

// After a replay: joins the case with its training (metrics.csv), writes timeline.json and, last, `done`.
void finish_case(const RunLayout& layout, const Case& one, TimelineFormat timeline);

// One record a case, in order. `failures`: by case name, what went wrong; a case that is neither done nor
// there is "interrupted".
std::vector<Json> case_records(const RunLayout& layout, const std::vector<const Case*>& cases,
                               const std::map<std::string, std::string>& failures);

// summary.json, metrics.csv, exchanges.csv, links.csv and report.html from what is on disk.
void write_outputs(const RunLayout& layout, const Scenario& scenario, const std::vector<const Case*>& cases,
                   const std::map<std::string, std::string>& failures);

}  // namespace longhaul
