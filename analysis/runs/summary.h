// What stands at the top of a run directory: summary.json and the joined tables of its cases.
#pragma once

#include <string>
#include <vector>

#include "core/base/options.h"

namespace longhaul {

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
