#include "cli/run_outputs.h"

#include <unistd.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <thread>

#include "analysis/case_record.h"
#include "analysis/claims/claims.h"
#include "analysis/learning_curve.h"
#include "analysis/report/report.h"
#include "analysis/run_files.h"
#include "analysis/runs/summary.h"
#include "cli/validated_scenario.h"
#include "core/base/errors.h"
#include "core/base/hash.h"
#include "core/base/source_commit.h"
#include "methods/common/registry.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

Json record_of(const RunLayout& layout, const Case& config, const std::string& status) {
  return case_record(config, layout.case_folder(config), layout.training_folder(config), status,
                     config.train ? training_key(config) : "");
}

// One record a case, in order.
std::vector<Json> case_records(const RunLayout& layout, const std::vector<const Case*>& cases,
                               const std::map<std::string, std::string>& failures) {
  std::vector<Json> records;
  for (const Case* config : cases) {
    const auto failure = failures.find(config->name);
    const std::string status = failure != failures.end()              ? "failed"
                               : is_done(layout.case_folder(*config)) ? "done"
                                                                      : "interrupted";
    Json record = record_of(layout, *config, status);
    if (failure != failures.end()) record["error"] = failure->second;
    records.push_back(std::move(record));
  }
  return records;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string RunLayout::training_folder(const Case& config) const {
  return config.train ? training_folder(training_key(config)) : "";
}

bool is_done(const std::string& folder) {
  return fs::exists(folder + "/done");
}

std::string sibling_executable(const std::string& name) {
  const fs::path file = fs::read_symlink("/proc/self/exe").parent_path() / name;
  if (!fs::exists(file))
    throw RunError(file.string() + " does not exist: this build of Longhaul was made without it; install " +
                   (name == "longhaul-sim" ? "ns-3 (libns3-dev ns3)" : "LibTorch (libtorch-dev)") +
                   " and build again");
  return file.string();
}

void finish_case(const RunLayout& layout, const Case& config, bool keeps_tables) {
  const std::string folder = layout.case_folder(config);
  if (config.train) write_case_metrics(config, folder, layout.training_folder(config));
  if (!keeps_tables) keep_totals(folder, record_of(layout, config, "done"));
  write_file(folder + "/done", "");
}

void write_outputs(const RunLayout& layout, const Scenario& scenario, const std::vector<const Case*>& cases,
                   const std::map<std::string, std::string>& failures) {
  std::vector<std::string> names;
  for (const Case* config : cases) names.push_back(config->name);
  std::vector<Json> records = case_records(layout, cases, failures);
  for (std::size_t i = 0; i < records.size(); ++i)
    records[i]["number"] = cases[i] - scenario.cases.data() + 1;
  const std::size_t in_other_shards = scenario.cases.size() - records.size();
  write_summary(layout.folder, scenario.name, records,
                judge_claims(claims_of(scenario), records, in_other_shards), scenario.cases.size());
  join_tables(layout.folder, names);
  write_file(layout.file("report.html"), report_page(report_data(open_runs({layout.folder}))));
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

Manifest::Manifest(const Scenario& scenario, const std::vector<std::string>& command)
    : start_(seconds_now()) {
  json_ = {{"format", 1},
           {"name", scenario.name},
           {"command", join(command, " ")},
           {"version", LONGHAUL_VERSION},
           {"commit", source_commit()},
           {"build", {{"type", LONGHAUL_BUILD_TYPE}, {"compiler", LONGHAUL_COMPILER}}},
           {"scenario_hash", hex64(fnv1a(scenario.written.dump()))},
           {"scenario", scenario.resolved},
           {"host", host_name()},
           {"cores", std::thread::hardware_concurrency()},
           {"started", utc_now()}};
}

void Manifest::set_option(const std::string& key, Json value) {
  json_["options"][key] = std::move(value);
}

void Manifest::add_wall_time(const std::string& kind, const std::string& name, double seconds) {
  json_["wall_times_s"][kind][name] = seconds;
}

void Manifest::write(const RunLayout& layout, const WorkPlan& plan, const std::string& status) {
  for (const Training& training : plan.trainings) {
    Json said = read_json_or_null(layout.training_folder(training.key) + "/training.json");
    if (!said.is_object()) continue;
    said["seed"] = training.example->seed;
    said["label"] = training.example->method.label;
    json_["trainings"][training.key] = said;
  }
  json_["status"] = status;
  json_["finished"] = utc_now();
  json_["wall_s"] = seconds_now() - start_;
  write_file(layout.file("manifest.json"), json_.dump(2) + "\n");
}

}  // namespace longhaul
