#include <fmt/core.h>

#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <thread>

#include "analysis/run_files.h"
#include "analysis/text.h"
#include "checks/validated_scenario.h"
#include "cli/commands.h"
#include "cli/live_display.h"
#include "cli/output_place.h"
#include "cli/replay_journal.h"
#include "cli/replay_threads.h"
#include "cli/rollout_plan.h"
#include "cli/typed_command.h"
#include "core/base/child_main.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/option_docs.h"
#include "core/base/printable.h"
#include "core/base/source_commit.h"
#include "core/base/units.h"
#include "planner/accelerators.h"
#include "planner/measurement_files.h"
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

constexpr char kReplays[] = "/replays.jsonl";  // what --resume takes, until the plan is whole

bool has_only_ours(const std::string& folder) {
  const std::set<std::string> ours = {"work",          "candidate.json",    "plan.json",
                                      "scenario.json", "plan.html",         "launch.sh",
                                      "sites.graphml", "sites.json",        "without-sites.graphml",
                                      "replays.jsonl", "without-sites.json"};
  for (const auto& entry : fs::directory_iterator(folder)) {
    fs::path name = entry.path().filename();
    if (name.extension() == ".part") name = name.stem();
    if (ours.count(name.string()) == 0) return false;
  }
  return true;
}

// Whether all that is there is what a plan leaves that was killed or failed. The lock tells its work from a
// folder of somebody else's that has this name.
bool is_left_over(const std::string& folder) {
  return fs::exists(folder + kWork + "/.lock") && has_only_ours(folder);
}

// What one leaves that was interrupted or killed once it had replays.
bool may_be_resumed(const std::string& folder) {
  return fs::exists(folder + kReplays) && has_only_ours(folder);
}

// The next free one; with --resume the last one that can be resumed, where there is one.
std::string usual_folder(const PlanOptions& options, const PlanRequest& plan) {
  const std::string first = "results/" + plan.name + "-plan";
  std::string folder = first, last;
  for (int i = 2; fs::exists(folder); ++i) {
    if (may_be_resumed(folder)) last = folder;
    folder = fmt::format("{}-{}", first, i);
  }
  return options.resume && !last.empty() ? last : folder;
}

std::string plan_folder(const PlanOptions& options, const PlanRequest& plan) {
  const std::string folder = options.out.empty() ? usual_folder(options, plan) : options.out;
  std::error_code error;
  const fs::file_status found = fs::status(folder, error);
  if (error && found.type() != fs::file_type::not_found)
    throw InputError("--output", folder + ": " + error.message(), "a new or an empty folder");
  if (!fs::exists(found) || (fs::is_directory(found) && (fs::is_empty(folder) || is_left_over(folder))))
    return folder;
  const bool resumes = fs::is_directory(found) && may_be_resumed(folder);
  if (resumes && options.resume) return folder;
  throw InputError("--output", folder + " exists and is not empty", "a new or an empty folder",
                   resumes ? "--resume continues the plan that was interrupted in this folder"
                           : "or one with nothing but what a plan left that was killed");
}

// Where replays are written, in the folder of the plan, which it empties of what an earlier plan has left,
// but for its replays. It goes with this object, unless it is kept: for the logs of what has failed.
class WorkFolder {
 public:
  explicit WorkFolder(const std::string& plan_folder)
      : folder_(made_folder("--output", plan_folder) + kWork), lock_(folder_) {
    for (const auto& folder : {plan_folder, folder_})
      for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path() != folder_ && entry.path().filename() != ".lock" &&
            entry.path() != plan_folder + kReplays)
          fs::remove_all(entry.path());
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
  explicit InterruptWatch(std::function<void()> end) : end_(std::move(end)), thread_([this] { watch(); }) {}
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
    end_();
    std::fprintf(stderr, "interrupted\n");
    std::_Exit(kInterrupted);  // the other thread is at work
  }

  const std::function<void()> end_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;  // the last member: it reads the others
};

// RFC 8089 and 3986: what is no letter, digit or one of -._~/ is percent-encoded.
std::string file_address(const std::string& path) {
  std::string address = "file://";
  for (const char c : path)
    address += std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("-._~/", c) != nullptr
                   ? std::string(1, c)
                   : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return address;
}

// Of the page that `make planner-page` leaves beside the program, or an installed one; "" where there is
// none.
std::string planner_page() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& file : {folder / "longhaul-planner.html",
                               folder.parent_path() / "share" / "longhaul" / "longhaul-planner.html"})
    if (!error && fs::exists(file)) return file_address(file.string());
  return "";
}

class Planning {
 public:
  Planning(const PlanOptions& options, const PlanRequest& plan)
      : plan_(plan),
        folder_(plan_folder(options, plan)),
        known_(options.resume ? read_replays(folder_ + kReplays, of_what(plan)) : KnownReplays{}),
        work_(folder_),
        journal_(folder_ + kReplays, of_what(plan), std::move(known_)),
        jobs_(options.jobs > 0 ? options.jobs : static_cast<int>(std::thread::hardware_concurrency())),
        quiet_(options.quiet),
        resumes_(options.resume),
        command_(options.command),
        display_(options.quiet) {}

  int execute() {
    try {
      std::optional<InterruptWatch> watch([this] {
        leave_replays();
        if (journal_.size() > 0) say_how_to_continue();
      });
      if (resumes_)
        display_.line(journal_.taken_over() > 0
                          ? fmt::format("resumed with {}", counted(as_index(journal_.taken_over()), "replay"))
                          : "there is nothing to resume: a new plan");
      const PlannedNetwork network = planned_network(plan_, folder_);
      for (const auto& [name, text] : network.files) write_file(folder_ + "/" + name, text);
      const PlanResult result = make_plan(plan_, network, tools(), folder_);
      watch.reset();
      write(result);
      if (result.is_cut) return interrupted_here();
      fs::remove(folder_ + kReplays);
    } catch (const InputError& error) {
      fs::remove_all(folder_);
      throw error.parts().file.empty() ? error.in_file(plan_.file) : error;
    } catch (const Interrupted&) {
      leave_replays();
      return journal_.size() > 0 ? interrupted_here() : kInterrupted;
    } catch (const RunError&) {
      work_.keep();
      throw;
    }
    return kDone;
  }

 private:
  // What the replays are of.
  static Json of_what(const PlanRequest& plan) {
    return {{"program", std::string(LONGHAUL_VERSION " ") + source_commit()},
            {"plan", plan.written},
            {"measured", plan.measured}};
  }

  // Without an answer: the replays alone stay, if there are any.
  void leave_replays() const {
    std::error_code ignored;
    if (journal_.size() == 0) {
      fs::remove_all(folder_, ignored);
      return;
    }
    for (const auto& entry : fs::directory_iterator(folder_, ignored))
      if (entry.path() != folder_ + kReplays) fs::remove_all(entry.path(), ignored);
  }

  void say_how_to_continue() const {
    say(stderr, fmt::format("interrupted; {} are kept. To continue: {}\n",
                            counted(as_index(journal_.size()), "replay"),
                            resuming_command(command_, "--output", folder_)));
  }

  int interrupted_here() const {
    say_how_to_continue();
    return kInterrupted;
  }

  PlanTools tools() {
    return {[this](const Json& scenario) { return validated(scenario); },
            [this](std::vector<ReplayTask>& tasks, const std::string& phase) { replay(tasks, phase); },
            work_.folder(),
            [this](const Evaluation& best, const StillOpen& open) { say_so_far(best, open); }};
  }

  // Of a search that lasts: after two seconds, then every ten.
  void say_so_far(const Evaluation& best, const StillOpen& open) {
    constexpr std::chrono::seconds kFirst{2}, kEvery{10};
    const auto now = std::chrono::steady_clock::now();
    if (now < next_said_ || now < begun_ + kFirst) return;
    next_said_ = now + kEvery;
    const std::string left = open.count == 0 ? "no other candidate can be better"
                                             : fmt::format("{} may still be better, at most about {} more",
                                                           counted(open.count, "candidate"),
                                                           human_duration(open.most_s() / jobs_));
    display_.line(
        fmt::format("so far: {}, {}; {}", best.candidate.words, human_duration(best.total_s()), left));
  }

  // As `longhaul check`, in the folder where the plan's own files are.
  Case validated(const Json& scenario) const {
    return checked_candidate(
        scenario, folder_, [](const std::string& file) { return validated_scenario(file, {}).cases.at(0); });
  }

  void replay(std::vector<ReplayTask>& tasks, const std::string& phase) {
    std::vector<std::size_t> open;  // those that no earlier call has made
    for (std::size_t i = 0; i < tasks.size(); ++i)
      if (!journal_.take(tasks[i])) open.push_back(i);
    if (open.empty()) return;
    if (open.size() > 1) display_.line(fmt::format("{}: {} replays", phase, open.size()));
    std::vector<ReplayTask> new_ones;
    for (const std::size_t i : open) new_ones.push_back(std::move(tasks[i]));
    const auto give_back = [&] {
      for (std::size_t i = 0; i < open.size(); ++i) tasks[open[i]] = std::move(new_ones[i]);
    };
    try {
      replay_on_threads(new_ones, jobs_, phase, display_,
                        [this](const ReplayTask& task) { journal_.add(task); });
    } catch (const Interrupted&) {  // the search takes what has ended
      give_back();
      throw;
    }
    give_back();
  }

  void write(const PlanResult& result) {
    for (const auto& [name, text] : plan_files(plan_, result, planner_page()))
      write_file(folder_ + "/" + name, text);
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
  KnownReplays known_;  // read before the folder is emptied: they may be refused
  WorkFolder work_;
  ReplayJournal journal_;
  const int jobs_;
  const bool quiet_, resumes_;
  const std::vector<std::string> command_;  // as typed
  LiveDisplay display_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point next_said_{};
};

}  // namespace

int plan_command(const PlanOptions& options) {
  if (is_rollout_plan(options.plan)) return plan_rollouts(options);
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
