#include "cli/reused_trainings.h"

#include <fmt/core.h>

#include <filesystem>

#include "analysis/run_files.h"
#include "analysis/text.h"
#include "checks/work_estimate.h"
#include "cli/commands.h"
#include "cli/json_differences.h"
#include "cli/run_outputs.h"
#include "core/base/errors.h"
#include "core/base/ranges.h"
#include "core/base/source_commit.h"
#include "methods/common/registry.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostTrainings = 4;  // named in a message
constexpr std::size_t kMostKeys = 3;       // that differ, named

const char* const kTakenFrom = "taken_from.json";

Json manifest_of(const std::string& run) {
  try {
    return read_json_or_null(run + "/manifest.json");
  } catch (const DamagedFile&) {
    return nullptr;
  }
}

void check_run(const std::string& run) {
  if (!fs::is_directory(run))
    throw InputError("--trainings", run + (fs::exists(run) ? " is a file" : " does not exist"),
                     "the folder of a run, as longhaul run --out made it");
  if (!fs::is_directory(run + "/train"))
    throw InputError("--trainings", run + " has no trainings (there is no folder train)",
                     "the folder of a run that trained");
}

// What a training depends on. `has_files`: the folder counts, since paths of texts start there.
Json trained_by(const Json& resolved, bool has_files) {
  Json parts = Json::object();
  for (const char* section : {"seed", "replicas", "method", "train", "pipeline", "recovery", "folder"})
    if (resolved.is_object() && resolved.contains(section) && (has_files || section != std::string("folder")))
      parts[section] = resolved[section];
  return parts;
}

// What is different there: "train.steps (300 there, 600 here)", of the training that is nearest.
std::string difference_to(const std::vector<std::string>& runs, const Training& training) {
  const bool has_files = !training.example->train->data.globs.empty();
  const Json here = trained_by(training.example->resolved, has_files);
  std::vector<std::string> least;
  bool any = false;
  for (const std::string& run : runs)
    for (const auto& entry : fs::directory_iterator(run + "/train")) {
      if (!is_done(entry.path())) continue;
      Json resolved;
      try {
        resolved = read_json_or_null(entry.path().string() + "/case.json");
      } catch (const DamagedFile&) {
        continue;
      }
      std::vector<std::string> differences = differences_in_words(trained_by(resolved, has_files), here);
      if (!any || differences.size() < least.size()) least = std::move(differences);
      any = true;
    }
  if (!any) return "no training there is finished";
  if (least.empty()) return "the nearest one there was trained under other times or texts";
  return "the nearest one there differs in " + join_some(least, kMostKeys);
}

std::string named(const Training& training) {
  return fmt::format("{} (seed {}, {})", training.example->method.label, training.example->seed,
                     training.key);
}

// Which run trained it; of one that was itself taken from another run that one.
Json origin_of(const std::string& run, const std::string& folder) {
  if (const Json known = read_json_or_null(folder + "/" + kTakenFrom); known.is_object()) return known;
  Json origin = {{"run", run}};
  const Json manifest = manifest_of(run);
  for (const char* key : {"name", "version", "commit", "host", "started", "scenario_hash"})
    if (manifest.is_object() && manifest.contains(key)) origin[key] = manifest[key];
  return origin;
}

bool needs_training_first(const Case& config) {
  return config.train && !times_decide(config);
}

}  // namespace

ReusedTrainings::ReusedTrainings(const RunOptions& options, const std::string& default_folder,
                                 const WorkPlan& plan) {
  if (options.trainings.empty()) return;
  if (options.only == "cases" || options.only == "report")
    throw InputError("--trainings", fmt::format("found beside --only {}", options.only),
                     "no --only, --only replay or --only train");
  if (plan.trainings.empty())
    throw InputError("--trainings", "found with a scenario that trains nothing",
                     "a scenario with a section train");
  const bool continues = options.resume || !options.only_cases.empty();
  // Without --out a run that neither continues nor replaces another has a folder of its own.
  const bool is_known = !options.out.empty() || continues || options.overwrite;
  const std::string own = options.out.empty() ? default_folder : options.out;
  for (const std::string& run : options.trainings) {
    check_run(run);
    if (std::error_code none; is_known && fs::equivalent(run, own, none))
      throw InputError("--trainings", run + " is also --out", "another run",
                       "--resume continues the run itself");
  }
  std::vector<const Training*> missing;
  for (const Training& training : plan.trainings) {
    for (const std::string& run : options.trainings)
      if (const std::string folder = run + "/train/" + training.key; is_done(folder) && !has(training.key))
        sources_[training.key] = {run, folder};
    const bool is_here = continues && is_done(RunLayout{own}.training_folder(training.key));
    if (!has(training.key) && !is_here) missing.push_back(&training);
  }
  if (missing.empty() || options.trains_missing) return;
  std::vector<std::string> names = each_of(missing, [](const Training* one) { return named(*one); });
  const std::string runs = join(options.trainings);
  throw InputError(
      "--trainings",
      fmt::format("{} has not finished {} of {}: {}; of the first {}", runs, missing.size(),
                  counted(plan.trainings.size(), "training"), join_some(names, kMostTrainings),
                  difference_to(options.trainings, *missing[0])),
      "a run with a finished training of each method and seed, equal in all that a training depends "
      "on (method, seed, replicas, train)",
      "--train-missing trains those");
}

WorkPlan ReusedTrainings::rest_of(WorkPlan plan) const {
  drop_if(plan.trainings, [&](const Training& training) { return has(training.key); });
  return plan;
}

std::vector<std::string> ReusedTrainings::warnings() const {
  std::vector<std::string> sentences;
  for (const auto& [key, source] : sources_) {
    const Json origin = origin_of(source.run, source.folder);
    const std::string version = origin.value("version", ""), commit = origin.value("commit", "");
    if (version.empty() || (version == LONGHAUL_VERSION && commit == source_commit())) continue;
    add_new(fmt::format("the trainings of {} were made by version {} ({}); this is {} ({})", source.run,
                        version, commit, LONGHAUL_VERSION, source_commit()),
            sentences);
  }
  return sentences;
}

void ReusedTrainings::copy(const std::string& key, const std::string& folder) const {
  const Source& source = sources_.at(key);
  try {
    fs::create_directories(folder);
    for (const auto& entry : fs::directory_iterator(folder))  // of a training that was stopped
      if (entry.path().filename() != ".claim") fs::remove_all(entry.path());
    for (const auto& entry : fs::directory_iterator(source.folder)) {
      const std::string name = entry.path().filename();
      if (name == "done" || name == ".lock" || name == ".claim" || name == kTakenFrom) continue;
      fs::copy(entry.path(), folder + "/" + name,
               fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    }
  } catch (const fs::filesystem_error& error) {
    throw RunError(fmt::format("{}: the training of {} cannot be copied: {}", folder, source.run,
                               error.code().message()));
  }
  write_file(folder + "/" + kTakenFrom, origin_of(source.run, source.folder).dump(2) + "\n");
  write_file(folder + "/done", "");
}

void check_replay_alone(const RunOptions& options, const std::string& default_folder, const WorkPlan& plan,
                        const ReusedTrainings& reused) {
  if (options.only != "replay") return;
  const RunLayout layout{options.out.empty() ? default_folder : options.out};
  std::size_t without = 0;
  for (const Case* config : plan.cases)
    without += needs_training_first(*config) && !reused.has(training_key(*config)) &&
               !is_done(layout.training_folder(*config));
  if (without == 0 || without < plan.cases.size()) return;
  throw InputError(
      "--only",
      fmt::format("found replay, but {} has no finished training of {}: a replay alone would have no "
                  "losses",
                  layout.folder, without == 1 ? "its case" : "any of its cases"),
      "no --only, or --only train before it",
      "--trainings RUN takes the trainings that another run has finished");
}

std::string not_replayed_in_words(const std::string& folder, const WorkPlan& plan) {
  const RunLayout layout{folder};
  std::vector<std::string> names;
  for (const Case* config : plan.cases)
    if (needs_training_first(*config) && !is_done(layout.training_folder(*config)))
      names.push_back(config->name);
  if (names.empty()) return "";
  return fmt::format("{} not replayed, because the training is not finished: {}",
                     counted(names.size(), "case"), join_some(names, kMostTrainings));
}

}  // namespace longhaul
