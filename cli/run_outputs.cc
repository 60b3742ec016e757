#include "cli/run_outputs.h"

#include "analysis/case_record.h"
#include "analysis/claims.h"
#include "analysis/join.h"
#include "analysis/report/report.h"
#include "analysis/summary.h"
#include "cli/validated_scenario.h"
#include "methods/common/training_key.h"

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

}  // namespace longhaul
