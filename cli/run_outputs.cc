#include "cli/run_outputs.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <set>
#include <thread>

#include "analysis/case_record.h"
#include "analysis/claims/claims.h"
#include "analysis/learning_curve.h"
#include "analysis/report/report.h"
#include "analysis/report/report_data.h"
#include "analysis/run_files.h"
#include "analysis/runs/run_directory.h"
#include "checks/validated_scenario.h"
#include "checks/work_estimate.h"
#include "cli/commands.h"
#include "cli/json_differences.h"
#include "cli/typed_command.h"
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

// Whether a run may begin in it: new, or without any file but what a run leaves that was killed before it had
// written its scenario. Folders may be there: Snakemake makes those of the files that it expects.
bool is_free(const fs::path& folder) {
  std::error_code error;
  const fs::file_status found = fs::status(folder, error);
  if (found.type() == fs::file_type::not_found) return true;
  if (error) throw InputError("--out", folder.string() + ": " + error.message(), "a new or an empty folder");
  if (!fs::is_directory(found)) return false;
  std::error_code of_entry;
  for (auto entry = fs::recursive_directory_iterator(folder, error); entry != fs::end(entry);
       entry.increment(error))
    if (const fs::path name = entry->path().filename();
        !entry->is_directory(of_entry) && name != ".lock" && name != ".claim" && name != "scenario.json.part")
      return false;
  if (error && error != std::errc::no_such_file_or_directory)  // which another process has taken away
    throw InputError("--out", folder.string() + ": " + error.message(), "a new or an empty folder");
  return true;
}

// What is different in the scenario of the run that is there; "" where nothing is.
std::string difference_to_scenario(const std::string& file, const Scenario& scenario) {
  constexpr std::size_t kMostKeys = 3;  // named
  try {
    Json before = read_json_or_null(file), now = scenario.written;
    for (Json* one : {&before, &now})
      if (one->is_object()) one->erase("$schema");  // where an editor finds the keys
    if (before == now) return "";
    const std::vector<std::string> differences = differences_in_words(before, now);
    return differences.empty() ? "its scenario.json differs in the order of its keys"
                               : "it differs in " + join_some(differences, kMostKeys);
  } catch (const DamagedFile&) {
    return "its scenario.json cannot be read";
  }
}

// Tables and summary are of the cases of one shard: others that were run here would be in none of them.
void check_shard(const std::string& folder, const RunOptions& options, const WorkPlan& plan) {
  if (options.shard == kWholeShard || options.only == "report") return;
  std::set<std::string> others;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder + "/cases", ignored))
    others.insert(entry.path().filename());
  for (const Case* config : plan.cases) others.erase(config->name);
  if (others.empty()) return;
  throw InputError("--shard",
                   fmt::format("found {}, but {} cases in {} are of other shards: they would be in no table",
                               options.shard, others.size(), folder),
                   "the shard that was run there, or no --shard to run all cases",
                   "a folder of its own for each shard: report, compare and claims take several");
}

}  // namespace

std::string choose_folder(const RunOptions& options, const Scenario& scenario, const WorkPlan& plan) {
  std::string folder = options.out;
  const bool continues = options.resume || !options.only_cases.empty();
  if (folder.empty()) {
    folder = "results/" + scenario.name;
    for (int i = 2; !continues && !options.overwrite && options.only != "report" && fs::exists(folder); ++i)
      folder = fmt::format("results/{}-{}", scenario.name, i);
  }
  const std::string old = folder + "/scenario.json";
  const auto is_begun = [&old] {
    std::error_code none;
    return fs::exists(old, none);
  };
  if (options.only == "report" && options.overwrite)
    throw InputError("--overwrite", "found beside --only report", "one of them");
  if (options.only == "report" && !is_begun())
    throw InputError("--only", fmt::format("found report, but {} holds no run", folder),
                     "the folder of a run, as longhaul run --out made it",
                     "without --only its cases are run");
  if (!is_begun()) {
    const bool was_free = is_free(folder);
    // Another process may have begun it meanwhile: scenario.json is the first file that it makes.
    if (!was_free && !is_begun())
      throw InputError("--out", folder + " exists and is no run directory", "a new or an empty folder");
    if (!was_free) return choose_folder(options, scenario, plan);
    std::error_code error;
    if (fs::create_directories(folder, error); error)
      throw InputError("--out", fmt::format("{} cannot be made ({})", folder, error.message()),
                       "a folder that can be written to");
    return folder;
  }
  if (options.overwrite) return folder;
  if (!continues && options.only.empty())
    throw InputError("--out", folder + " already holds a run", "a new folder",
                     "--resume to continue that run, or --overwrite to remove it");
  if (const std::string difference = difference_to_scenario(old, scenario); !difference.empty())
    throw InputError("--out", fmt::format("{} holds a run of another scenario ({})", folder, difference),
                     "a new folder, or the same scenario, --set and Python files",
                     "or --overwrite to remove that run");
  check_shard(folder, options, plan);
  return folder;
}

void remove_run(const std::string& folder) {
  for (const char* name : {"cases", "train", "figures", "summary.json", "metrics.csv", "exchanges.csv",
                           "links.csv", "report.html", "manifest.json", "scenario.json"})
    fs::remove_all(folder + "/" + name);
}

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
  std::vector<Json> records;
  for (const Case* config : cases) {
    const auto failure = failures.find(config->name);
    const std::string status = failure != failures.end()              ? "failed"
                               : is_done(layout.case_folder(*config)) ? "done"
                                                                      : "interrupted";
    Json& record = records.emplace_back(record_of(layout, *config, status));
    if (failure != failures.end()) record["error"] = failure->second;
    record["number"] = config - scenario.cases.data() + 1;
    names.push_back(config->name);
  }
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

Manifest::Manifest(const Scenario& scenario, const std::vector<std::string>& command) {
  json_ = {{"format", 1},
           {"name", scenario.name},
           {"command", shell_line(command)},
           {"version", LONGHAUL_VERSION},
           {"commit", source_commit()},
           {"build", {{"type", LONGHAUL_BUILD_TYPE}, {"compiler", LONGHAUL_COMPILER}}},
           {"scenario_hash", hex64(fnv1a(scenario.written.dump()))},
           {"scenario", scenario.resolved},
           {"host", host_name()},
           {"cores", std::thread::hardware_concurrency()},
           {"started", utc_now()}};
}

void Manifest::keep(const Json& before) {
  if (!before.is_object() || !before.contains("command")) return;
  is_kept_ = true;
  json_ = before;
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
    const Json taken_from = read_json_or_null(layout.training_folder(training.key) + "/taken_from.json");
    if (taken_from.is_object()) said["taken_from"] = taken_from;
    json_["trainings"][training.key] = said;
  }
  // Of one that is kept, "running" is what a run leaves that was killed, and workers until a report is made.
  if (is_kept_ && json_.value("status", "running") != "running") return write_json(layout);
  json_["status"] = status;
  if (is_kept_) return write_json(layout);
  json_["finished"] = utc_now();
  json_["wall_s"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  write_json(layout);
}

void Manifest::write_json(const RunLayout& layout) const {
  write_file(layout.file("manifest.json"), json_.dump(2) + "\n");
}

}  // namespace longhaul
