#include "analysis/report/report_data.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "analysis/claims.h"
#include "analysis/columns.h"
#include "analysis/replay_files.h"
#include "analysis/report/curves.h"
#include "analysis/report/digits.h"
#include "analysis/report/findings.h"
#include "analysis/report/links.h"
#include "analysis/report/outer_step.h"
#include "analysis/report/words.h"
#include "analysis/summary.h"
#include "analysis/sweep_point.h"
#include "core/errors.h"

namespace longhaul {
namespace {

struct Run {
  std::string folder;
  Json summary, manifest;
  std::vector<Json> records;
};

// How much of each case fits, so that 1500 cases stay below 10 MB.
struct Detail {
  explicit Detail(std::size_t cases)
      : curve_points(std::clamp<std::size_t>(45'000 / cases, 20, 200)),
        lanes(std::clamp<std::size_t>(16'000 / cases, 8, 64)),
        links(std::clamp<std::size_t>(9'000 / cases, 5, 15)) {}
  std::size_t curve_points, lanes, links;
};

Json optional_json(const std::optional<double>& value) {
  return value ? Json(six_digits(*value)) : Json(nullptr);
}

std::string named_few(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 12;
  std::vector<std::string> few(names.begin(),
                               names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMost)));
  return join(few, "; ") +
         (names.size() > kMost ? "; and " + std::to_string(names.size() - kMost) + " more" : "");
}

Json notes_of(const std::vector<Json>& records) {
  Json notes = Json::array();
  for (const char* status : {"interrupted", "failed"}) {
    std::vector<std::string> names;
    for (const Json& record : records)
      if (record.value("status", "") == status) names.push_back(record.value("case", "?"));
    if (names.empty()) continue;
    notes.push_back(
        std::to_string(names.size()) + " of " + std::to_string(records.size()) + " cases " +
        (std::string(status) == "failed" ? "failed: " : "did not finish, the run was interrupted: ") +
        named_few(names) + ".");
  }
  if (records.empty()) notes.push_back("This run has no cases yet.");
  return notes;
}

Json claims_json(const Json& verdicts) {
  Json claims = Json::array();
  for (const Json& verdict : verdicts)
    claims.push_back({{"verdict", verdict["verdict"]},
                      {"statement", verdict["statement"]},
                      {"grounds", verdict_grounds(verdict)},
                      {"id", verdict["id"]}});
  return claims;
}

Json run_json(const Run& run) {
  const Json scenario = run.manifest.value("scenario", Json(nullptr));
  Json manifest = run.manifest;
  for (const char* bulky : {"scenario", "wall_times_s", "trainings"}) manifest.erase(bulky);
  return {{"folder", std::filesystem::path(run.folder).lexically_normal().string()},
          {"name", run.summary.value("scenario", "")},
          {"description", scenario.is_object() ? scenario.value("description", "") : ""},
          {"words", run_in_words(scenario, run.records)},
          {"notes", notes_of(run.records)},
          {"claims", claims_json(run.summary.value("claims", Json::array()))},
          {"manifest", manifest},
          {"scenario", scenario}};
}

Json chart_numbers(const Json& record) {
  Json numbers;
  for (const char* path : {"sync_time_s.mean", "sync_time_s.p95", "wait_s.mean", "compute_time_s",
                           "exchange_time_s", "wait_time_s", "simulated_time_s", "bytes_sent_per_replica"})
    numbers[path] = optional_json(value_at(record, path));
  return numbers;
}

// A damaged file costs the case this part of its picture, and the page says so.
template <typename Part>
Json or_null(const Part& part, Json& problems) {
  try {
    return part();
  } catch (const RunError& error) {
    problems.push_back(error.what());
    return nullptr;
  }
}

Json case_json(std::size_t run_index, const Run& run, const Json& record, const Detail& detail,
               Json& problems) {
  const std::string folder = run.folder + "/cases/" + record.value("case", "");
  const std::string training =
      record.contains("training") ? run.folder + "/train/" + plain(record["training"]) : "";
  Json one = {{"run", run_index},
              {"case", record.value("case", "")},
              {"status", record.value("status", "")},
              {"method", record.value("method", "")},
              {"label", record.value("label", record.value("method", ""))},
              {"variant", method_variant(record)},
              {"point", sweep_point(record)},
              {"seed", record.value("seed", Json())},
              {"swept", record.value("swept", Json::object())},
              {"exchanges", record.value("exchanges", Json())},
              {"numbers", chart_numbers(record)}};
  if (record.contains("error")) one["error"] = record["error"];
  one["curve"] = or_null([&] { return curve_of(folder, training, detail.curve_points); }, problems);
  one["outer_step"] = or_null([&] { return outer_step_of(folder, detail.lanes); }, problems);
  one["links"] = or_null([&] { return busiest_links(folder, detail.links); }, problems);
  return one;
}

void add_cells(const std::vector<Json>& records, std::size_t first, Json& cases) {
  for (const Column& column : columns()) {
    const std::vector<bool> best = best_values(records, column);
    for (std::size_t i = 0; i < records.size(); ++i) {
      const std::optional<double> value = value_at(records[i], column.path);
      Json& one = cases[first + i];
      one["texts"].push_back(formatted(column, value));
      one["values"].push_back(optional_json(value));
      one["best"].push_back(best[i] ? 1 : 0);
    }
  }
}

void add_points(const Run& run, std::size_t run_index, std::size_t first, Json& points) {
  std::vector<std::string> labels;  // in the order of the sweep
  std::map<std::string, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    const std::string label = sweep_point(run.records[i]);
    if (!members.count(label)) labels.push_back(label);
    members[label].push_back(i);
  }
  for (const std::string& label : labels) {
    Json indices = Json::array();
    std::vector<Json> records;
    for (const std::size_t i : members[label]) {
      indices.push_back(first + i);
      records.push_back(run.records[i]);
    }
    points.push_back(
        {{"run", run_index}, {"label", label}, {"cases", indices}, {"findings", findings(records)}});
  }
}

Run read_run(const std::string& folder) {
  Run run{folder, read_summary(folder), read_json_or_null(folder + "/manifest.json"), {}};
  if (!run.manifest.is_object()) run.manifest = Json::object();
  run.records.assign(run.summary["cases"].begin(), run.summary["cases"].end());
  return run;
}

std::vector<Run> read_runs(const std::vector<std::string>& folders, Json& problems) {
  std::vector<Run> runs;
  for (const std::string& folder : folders) try {
      runs.push_back(read_run(folder));
    } catch (const RunError& error) {
      problems.push_back(error.what());
    }
  if (runs.empty()) {
    std::vector<std::string> causes(problems.begin(), problems.end());
    throw RunError(causes.empty() ? "no run directory was given" : join(causes, "; "));
  }
  return runs;
}

Json columns_json() {
  Json json = Json::array();
  for (const Column& column : columns())
    json.push_back({{"title", column.title}, {"meaning", column.meaning}, {"path", column.path}});
  return json;
}

}  // namespace

Json report_data(const std::vector<std::string>& run_folders) {
  Json problems = Json::array();
  const std::vector<Run> runs = read_runs(run_folders, problems);
  std::vector<Json> all_records;
  for (const Run& run : runs) all_records.insert(all_records.end(), run.records.begin(), run.records.end());
  const Detail detail(std::max<std::size_t>(1, all_records.size()));

  Json data = {{"columns", columns_json()},
               {"swept", swept_keys(all_records)},
               {"runs", Json::array()},
               {"cases", Json::array()},
               {"points", Json::array()}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::size_t first = data["cases"].size();
    data["runs"].push_back(run_json(runs[i]));
    for (const Json& record : runs[i].records)
      data["cases"].push_back(case_json(i, runs[i], record, detail, problems));
    add_cells(runs[i].records, first, data["cases"]);
    add_points(runs[i], i, first, data["points"]);
  }
  data["problems"] = problems;
  return data;
}

}  // namespace longhaul
