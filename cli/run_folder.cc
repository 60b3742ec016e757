#include "cli/run_folder.h"

#include <fmt/core.h>

#include <filesystem>
#include <set>

#include "analysis/run_files.h"
#include "core/base/errors.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

// Whether a run may begin in it: new, or without any file but what a run leaves that was killed before it had
// written its scenario. Folders may be there: Snakemake makes those of the files that it expects.
bool is_free(const fs::path& folder) {
  std::error_code error;
  const fs::file_status found = fs::status(folder, error);
  if (found.type() == fs::file_type::not_found) return true;
  if (error) throw InputError("--out", folder.string() + ": " + error.message(), "a new or an empty folder");
  if (!fs::is_directory(found)) return false;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (const fs::path name = entry.path().filename();
        !entry.is_directory() && name != ".lock" && name != ".claim" && name != "scenario.json.part")
      return false;
  return true;
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
  if (std::error_code none; !fs::exists(old, none)) {
    if (!is_free(folder))
      throw InputError("--out", folder + " exists and is no run directory", "a new or an empty folder");
    return folder;
  }
  if (options.overwrite) return folder;
  if (!continues && options.only.empty())
    throw InputError("--out", folder + " already holds a run", "a new folder",
                     "--resume to continue that run, or --overwrite to remove it");
  const auto is_another = [&] {
    try {
      return read_json_or_null(old) != scenario.written;
    } catch (const DamagedFile&) {
      return true;
    }
  };
  if (is_another())
    throw InputError("--out", folder + " holds a run of another scenario (its scenario.json differs)",
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

}  // namespace longhaul
