// Run directories, one file behind the other (fuzz.h): what report, compare, claims and plot make of them.
#include <algorithm>

#include "analysis/claims/verdict_matrix.h"
#include "analysis/comparison/comparison.h"
#include "analysis/comparison/render.h"
#include "analysis/figures/figure_data.h"
#include "analysis/report/report.h"
#include "analysis/report/report_data.h"
#include "analysis/runs/run_directory.h"
#include "tests/fuzz/fuzz.h"

void longhaul::read_input(const std::string& input) {
  // Where a run of the one case "c" and the training "t" keeps what is read of it.
  static const std::vector<std::string> places = {
      "summary.json",        "manifest.json",         "scenario.json",       "cases/c/case.json",
      "cases/c/trace.jsonl", "cases/c/exchanges.csv", "cases/c/steps.csv",   "cases/c/replicas.csv",
      "cases/c/metrics.csv", "cases/c/links.csv",     "cases/c/network.csv", "cases/c/breakdown.csv",
      "cases/c/replay.json", "cases/c/transfers.csv", "cases/c/tasks.csv",   "cases/c/pipeline.csv",
      "train/t/metrics.csv", "train/t/training.json", "train/t/case.json"};
  const std::string folder = scratch_folder() + "/run";
  for (const char* part : {"/cases/c", "/train/t"}) std::filesystem::create_directories(folder + part);
  for (const std::string& place : places) std::filesystem::remove(folder + "/" + place);
  for (const auto& [name, text] : files_in(input))
    if (std::find(places.begin(), places.end(), name) != places.end()) file_with("run/" + name, text);
  RunDirectories opened = open_runs({folder});
  allow_errors([&] { report_page(report_data(opened)); });
  allow_errors([&] {
    const ComparisonTable table = compare_runs(opened.runs, {});
    comparison_markdown(table), comparison_json(table);
  });
  for (const RunDirectory& run : opened.runs)
    allow_errors([&] {
      for (const Json& claim : run.claims()) verdict_markdown(claim, run.records);
    });
  allow_errors([&] { figure_data(opened.runs, {}).dump(-1, ' ', false, Json::error_handler_t::replace); });
}
