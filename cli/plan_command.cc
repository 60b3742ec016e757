#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

#include "analysis/run_files.h"
#include "analysis/text.h"
#include "checks/validated_scenario.h"
#include "cli/commands.h"
#include "cli/live_display.h"
#include "cli/python_scripts.h"
#include "cli/replay_threads.h"
#include "core/base/child_main.h"
#include "core/base/errors.h"
#include "core/base/option_docs.h"
#include "core/base/printable.h"
#include "core/base/units.h"
#include "planner/accelerators.h"
#include "planner/plan_options.h"
#include "planner/plan_request.h"
#include "planner/plan_result.h"
#include "planner/plan_text.h"
#include "planner/planned_network.h"
#include "planner/planning.h"
#include "planner/replay_task.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

constexpr char kWork[] = "/work";  // in the folder, while the plan is made

// Whether all that is there is what a plan leaves that was killed or failed. The lock tells its work from a
// folder of somebody else's that has this name.
bool is_left_over(const std::string& folder) {
  if (!fs::exists(folder + kWork + "/.lock")) return false;
  const std::set<std::string> ours = {
      "work",      "candidate.json", "plan.json",  "scenario.json",         "plan.html",
      "launch.sh", "sites.graphml",  "sites.json", "without-sites.graphml", "without-sites.json"};
  for (const auto& entry : fs::directory_iterator(folder)) {
    fs::path name = entry.path().filename();
    if (name.extension() == ".part") name = name.stem();
    if (ours.count(name.string()) == 0) return false;
  }
  return true;
}

std::string plan_folder(const PlanOptions& options, const PlanRequest& plan) {
  std::string folder = options.out;
  if (folder.empty()) {
    folder = "results/" + plan.name + "-plan";
    for (int i = 2; fs::exists(folder); ++i) folder = fmt::format("results/{}-plan-{}", plan.name, i);
  }
  std::error_code error;
  const fs::file_status found = fs::status(folder, error);
  if (error && found.type() != fs::file_type::not_found)
    throw InputError("--output", folder + ": " + error.message(), "a new or an empty folder");
  if (fs::exists(found) && (!fs::is_directory(found) || (!fs::is_empty(folder) && !is_left_over(folder))))
    throw InputError("--output", folder + " exists and is not empty", "a new or an empty folder",
                     "or one with nothing but what a plan left that was killed");
  return folder;
}

// Where replays are written, in the folder of the plan, which it empties of what an earlier plan has left. It
// goes with this object, unless it is kept: for the logs of what has failed.
class WorkFolder {
 public:
  explicit WorkFolder(const std::string& plan_folder) : folder_(plan_folder + kWork), lock_(folder_) {
    for (const auto& folder : {plan_folder, folder_})
      for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path() != folder_ && entry.path().filename() != ".lock") fs::remove_all(entry.path());
  }
  ~WorkFolder() {
    if (is_kept_) return;
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  void keep() { is_kept_ = true; }

  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  FolderLock lock_;
  bool is_kept_ = false;
};

// Ends the program some moments after SIGINT or SIGTERM if it has not ended by itself. Replays look at
// signals (check_interrupt()); but between them candidates are checked, their ranks ordered and their bytes
// counted, which takes minutes where there are hundreds of nodes, and no loop of that does.
class InterruptWatch {
 public:
  explicit InterruptWatch(std::string folder) : folder_(std::move(folder)), thread_([this] { watch(); }) {}
  ~InterruptWatch() {
    is_over_ = true;
    thread_.join();
  }
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

 private:
  void watch() {
    constexpr int kPatience = 40;  // looks
    for (int looks = 0; !is_over_ && looks < kPatience; looks += interrupted() ? 1 : 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (is_over_) return;
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    std::fprintf(stderr, "interrupted\n");
    std::_Exit(kInterrupted);  // the other thread is at work
  }

  const std::string folder_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;  // the last member: it reads the others
};

class Planning {
 public:
  Planning(const PlanOptions& options, const PlanRequest& plan)
      : plan_(plan),
        folder_(plan_folder(options, plan)),
        work_(folder_),
        jobs_(options.jobs > 0 ? options.jobs : static_cast<int>(std::thread::hardware_concurrency())),
        quiet_(options.quiet),
        display_(options.quiet) {}

  int execute() {
    try {
      std::optional<InterruptWatch> watch(folder_);
      const PlannedNetwork network = planned_network(plan_, folder_);
      for (const auto& [name, text] : network.files) write_file(folder_ + "/" + name, text);
      const PlanResult result = make_plan(plan_, network, tools(), folder_);
      watch.reset();
      write(result);
      if (result.is_cut) return kInterrupted;
    } catch (const InputError& error) {
      fs::remove_all(folder_);
      throw error.parts().file.empty() ? error.in_file(plan_.file) : error;
    } catch (const Interrupted&) {
      fs::remove_all(folder_);
      return kInterrupted;
    } catch (const RunError&) {
      work_.keep();
      throw;
    }
    return kDone;
  }

 private:
  PlanTools tools() {
    return {[this](const Json& scenario) { return validated(scenario); },
            [this](std::vector<ReplayTask>& tasks, const std::string& phase) { replay(tasks, phase); },
            work_.folder(), [this](const Evaluation& best, std::size_t open) { say_so_far(best, open); }};
  }

  // Every ten seconds of a search that takes so long.
  void say_so_far(const Evaluation& best, std::size_t open) {
    constexpr std::chrono::seconds kEvery{10};
    const auto now = std::chrono::steady_clock::now();
    if (now - said_ < kEvery) return;
    said_ = now;
    display_.line(fmt::format("so far: {}, {}; {} may still be better", best.candidate.words,
                              human_duration(best.total_s()), counted(open, "candidate")));
  }

  // As `longhaul check`, in the folder where the plan's own files are.
  Case validated(const Json& scenario) const {
    return checked_candidate(
        scenario, folder_, [](const std::string& file) { return validated_scenario(file, {}).cases.at(0); });
  }

  void replay(std::vector<ReplayTask>& tasks, const std::string& phase) {
    if (tasks.size() > 1) display_.line(fmt::format("{}: {} replays", phase, tasks.size()));
    replay_on_threads(tasks, jobs_, phase, display_);
  }

  void write(const PlanResult& result) {
    for (const auto& [name, text] : plan_files(plan_, result)) write_file(folder_ + "/" + name, text);
    const std::string text = plan_text(plan_, result);
    say(stdout, quiet_ ? decision(plan_, result) + "\n" : "\n" + text);
    if (quiet_)
      for (const std::string& note : result.search.notes) say(stderr, note + "\n");
    std::printf(
        "scenario: %s/scenario.json (longhaul check and longhaul run take it)\npage: %s/plan.html\n"
        "to start it: %s/launch.sh\n",
        folder_.c_str(), folder_.c_str(), folder_.c_str());
  }

  const PlanRequest& plan_;
  const std::string folder_;
  WorkFolder work_;
  const int jobs_;
  const bool quiet_;
  LiveDisplay display_;
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

}  // namespace

int plan_command(const PlanOptions& options) {
  PlanRequest plan = read_plan(options.plan, scenario_declaration());
  if (!plan.measurements.empty()) {
    try {
      plan.measured = measured_sites(plan, plan.notes);
    } catch (const InputError& error) {
      throw error.in_file(plan.file);
    }
  }
  watch_interrupts();
  return Planning(options, plan).execute();
}

int plan_options_command() {
  std::printf("%s\naccelerators:\n", help_text(plan_options(scenario_declaration())).c_str());
  for (const Accelerator& accelerator : accelerators())
    std::printf("  %-10s %7.1f TFLOP/s, %s (%s)\n", accelerator.name.c_str(), accelerator.peak / 1e12,
                human_bytes(accelerator.memory).c_str(), accelerator.source.c_str());
  return kDone;
}

int plan_schema_command() {
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "Longhaul plan"}};
  schema.update(json_schema(plan_options(scenario_declaration())));
  // What a scenario says too stands in its schema, in the same folder.
  const std::string scenario = "scenario.schema.json#/properties/";
  for (const char* key : {"network", "faults", "recovery"})
    schema["properties"][key] = {{"$ref", scenario + key}};
  Json& candidates = schema["properties"]["candidates"]["properties"];
  candidates["pipelines"]["items"] = {{"$ref", scenario + "pipeline"}};
  for (Json& either : candidates["methods"]["items"]["anyOf"])
    if (!either.contains("enum")) either = {{"$ref", scenario + "methods/items"}};
  std::printf("%s\n", with_definitions(schema).dump(2).c_str());
  return kDone;
}

}  // namespace longhaul
