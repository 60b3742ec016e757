// Turns the files of trainings and replays into the tables, the summary and the report of a run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/timeline.h"
#include "cli/run_layout.h"
#include "cli/work_plan.h"

namespace longhaul {

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
