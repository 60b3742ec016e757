#include "cli/run_outputs.h"

#include <filesystem>
#include <fstream>

#include "analysis/case_record.h"
#include "analysis/claims.h"
#include "analysis/join.h"
#include "analysis/report/report.h"
#include "analysis/summary.h"
#include "cli/validated_scenario.h"
#include "core/errors.h"
#include "methods/common/registry.h"

namespace longhaul {

void finish_case(const RunLayout& layout, const Case& one, TimelineFormat timeline) {
  const std::string folder = layout.case_folder(one);
  if (one.train) write_case_metrics(one, folder, layout.training_folder(one));
  write_timeline(folder, {timeline, kMaximumSlices});
  write_file(folder + "/done", "");
}

std::vector<Json> case_records(const RunLayout& layout, const std::vector<const Case*>& cases,
                               const std::map<std::string, std::string>& failures) {
  std::vector<Json> records;
  for (const Case* one : cases) {
    const auto failure = failures.find(one->name);
    const std::string status = failure != failures.end()           ? "failed"
                               : is_done(layout.case_folder(*one)) ? "done"
                                                                   : "interrupted";
    Json record = case_record(*one, layout.case_folder(*one), layout.training_folder(*one), status,
                              one->train ? training_key(*one) : "");
    if (failure != failures.end()) record["error"] = failure->second;
    records.push_back(std::move(record));
  }
  return records;
}

void write_outputs(const RunLayout& layout, const Scenario& scenario, const std::vector<const Case*>& cases,
                   const std::map<std::string, std::string>& failures) {
  std::vector<std::string> names;
  for (const Case* one : cases) names.push_back(one->name);
  std::vector<Json> records = case_records(layout, cases, failures);
  for (std::size_t i = 0; i < records.size(); ++i)
    records[i]["number"] = cases[i] - scenario.cases.data() + 1;
  const std::size_t in_other_shards = scenario.cases.size() - records.size();
  write_summary(layout.folder, scenario.name, records,
                judge_claims(claims_of(scenario), records, in_other_shards), scenario.cases.size());
  join_tables(layout.folder, names);
  write_file(layout.file("report.html"), report_html({layout.folder}));
}

namespace fs = std::filesystem;

std::string RunLayout::training_folder(const Case& one) const {
  return one.train ? training_folder(training_key(one)) : "";
}

bool is_done(const std::string& folder) {
  return fs::exists(folder + "/done");
}

void write_file(const std::string& file, const std::string& text) {
  const std::string temporary = file + ".part";
  {
    std::ofstream out(temporary, std::ios::binary);
    out << text;
    out.flush();
    if (!out) throw RunError(file + ": cannot be written (is the disk full, or the folder not writable?)");
  }
  std::error_code error;
  fs::rename(temporary, file, error);
  if (error) throw RunError(file + ": cannot be written: " + error.message());
}

std::string sibling_executable(const std::string& name) {
  const fs::path file = fs::read_symlink("/proc/self/exe").parent_path() / name;
  if (!fs::exists(file))
    throw RunError(file.string() + " does not exist: this build of Longhaul was made without it; install " +
                   (name == "longhaul-sim" ? "ns-3 (libns3-dev ns3)" : "LibTorch (libtorch-dev)") +
                   " and build again");
  return file.string();
}

}  // namespace longhaul
