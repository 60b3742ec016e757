#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "analysis/claims/claims.h"
#include "analysis/comparison/decision_words.h"
#include "analysis/run_files.h"
#include "analysis/runs/run_directory.h"
#include "analysis/runs/summary.h"
#include "analysis/table.h"
#include "analysis/text.h"
#include "cli/child_process.h"
#include "cli/commands.h"
#include "cli/job_pool.h"
#include "cli/machine.h"
#include "cli/run_outputs.h"
#include "cli/validated_scenario.h"
#include "cli/work_estimate.h"
#include "core/base/child_main.h"
#include "core/base/csv.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/units.h"
#include "methods/common/registry.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

constexpr double kSecondsBetweenOutputs = 10;
constexpr int kWidestText = 110;      // columns of a sentence in a terminal
constexpr int kColumnsOfAFile = 100;  // where standard output is no terminal
// Tables and report of a thousand cases take seconds: no more than a twentieth of the run goes into them.
constexpr double kPausePerSecondOfOutputs = 20;

bool needs_simulator(const Case& config) {
  return config.network.fidelity != "analytic";
}

// Whether a run may begin in it: new, empty, or with nothing but what a run leaves that was killed before it
// had written its scenario.
bool is_free(const fs::path& folder) {
  std::error_code error;
  const fs::file_status found = fs::status(folder, error);
  if (found.type() == fs::file_type::not_found) return true;
  if (error) throw InputError("--out", folder.string() + ": " + error.message(), "a new or an empty folder");
  if (!fs::is_directory(found)) return false;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename() != ".lock" && entry.path().filename() != "scenario.json.part") return false;
  return true;
}

// Tables and summary are of the cases of one shard: those that another one has done would be in none of them.
void check_shard(const std::string& folder, const RunOptions& options, const Scenario& scenario) {
  const Json manifest = read_json_or_null(folder + "/manifest.json");
  const Json written = member(member(manifest, "options"), "shard");
  if (!written.is_string() || written == options.shard || options.only == "report") return;
  const std::string old = written.get<std::string>();
  std::set<const Case*> now;
  for (const Case* config : plan_work(scenario, parse_shard(options.shard)).cases) now.insert(config);
  const std::vector<const Case*> before = plan_work(scenario, parse_shard(old)).cases;
  const auto lost =
      std::count_if(before.begin(), before.end(), [&](const Case* config) { return now.count(config) == 0; });
  if (lost == 0) return;
  throw InputError("--shard",
                   fmt::format("found {}, but {} holds shard {}: {} of its cases would be in no table",
                               options.shard, folder, old, lost),
                   fmt::format("--shard {} to continue it, or no --shard to run all cases there", old),
                   "a folder of its own for each shard: report, compare and claims take several");
}

// A directory that is free, or that holds the same scenario and is to be continued.
std::string choose_folder(const RunOptions& options, const Scenario& scenario) {
  std::string folder = options.out;
  if (folder.empty()) {
    folder = "results/" + scenario.name;
    for (int i = 2; !options.resume && !options.overwrite && options.only != "report" && fs::exists(folder);
         ++i)
      folder = fmt::format("results/{}-{}", scenario.name, i);
  }
  const std::string old = folder + "/scenario.json";
  if (std::error_code none; !fs::exists(old, none)) {
    if (!is_free(folder))
      throw InputError("--out", folder + " exists and is no run directory", "a new or an empty folder");
    return folder;
  }
  if (options.overwrite) return folder;
  if (!options.resume && options.only.empty())
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
                     "a new folder, or the same scenario and --set", "or --overwrite to remove that run");
  check_shard(folder, options, scenario);
  return folder;
}

// What a run has written into its folder; anything else stays.
void remove_run(const std::string& folder) {
  for (const char* name : {"cases", "train", "figures", "summary.json", "metrics.csv", "exchanges.csv",
                           "links.csv", "report.html", "live.html", "manifest.json", "scenario.json"})
    fs::remove_all(folder + "/" + name);
}

class Run {
 public:
  Run(const RunOptions& options, const Scenario& scenario)
      : options_(options),
        scenario_(scenario),
        plan_(plan_work(scenario, parse_shard(options.shard))),
        layout_{choose_folder(options, scenario)},
        lock_(layout_.folder),
        kept_(kept_files(options.timeline, scenario)),
        manifest_(scenario, options.command),
        display_(options.quiet) {
    if (options.overwrite) remove_run(layout_.folder);
    write_file(layout_.file("scenario.json"), scenario.written.dump(2) + "\n");
    manifest_.set_option("jobs", options.jobs);
    manifest_.set_option("shard", options.shard);
    manifest_.write(layout_, plan_, "running");
  }

  int execute() {
    if (options_.only == "cases") return write_cases();
    try {
      if (wants("replay")) replay(/*before_training=*/true);
      if (wants("train") && !stopped()) train();
      if (wants("replay") && !stopped()) replay(/*before_training=*/false);
      return conclude();
    } catch (const RunError&) {
      // On a full disk the summary cannot be written either: the reader needs what failed first.
      print_failures();
      throw;
    }
  }

 private:
  bool wants(const std::string& part) const { return options_.only.empty() || options_.only == part; }
  bool stopped() const { return interrupts_so_far() > 0 || input_wrong_; }

  int threads_per_job() const {
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / options_.jobs);
  }

  // "train diloco, seed 2": the seed where there are several, the swept values where they tell trainings
  // apart.
  std::string training_name(const Training& training) const {
    const Case& config = *training.example;
    const auto is_same_label = [&](const Training& other) {
      return other.example->method.label == config.method.label;
    };
    if (std::count_if(plan_.trainings.begin(), plan_.trainings.end(), is_same_label) < 2)
      return "train " + config.method.label;
    const bool is_of_one_case = training.cases.size() == 1;
    return is_of_one_case ? "train " + config.name
                          : fmt::format("train {}, seed {}", config.method.label, config.seed);
  }

  // Each rank holds equally many replicas.
  int ranks_of(const Training& training) const {
    const int replicas = training_replicas(plan_of(*training.example), training.example->replicas);
    int ranks = std::min(options_.ranks, replicas);
    while (replicas % ranks != 0) --ranks;
    return ranks;
  }

  Job training_job(const Training& training) const {
    const std::string folder = layout_.training_folder(training.key);
    fs::create_directories(folder);
    write_file(folder + "/case.json", training.example->resolved.dump(2) + "\n");
    Job job{training_name(training), folder, {}, 1};
    const int ranks = ranks_of(training);
    job.is_mpirun = ranks > 1;
    if (job.is_mpirun) {
      job.arguments = {program_on_path("mpirun"), "--oversubscribe", "--bind-to", "none", "-n",
                       std::to_string(ranks)};
      if (geteuid() == 0) job.arguments.push_back("--allow-run-as-root");
    }
    job.arguments.insert(job.arguments.end(), {sibling_executable("longhaul-train"), "--case",
                                               folder + "/case.json", "--out", folder});
    const std::string device = options_.device.empty() ? training.example->train->device : options_.device;
    job.arguments.insert(
        job.arguments.end(),
        {"--threads", std::to_string(std::max(1, threads_per_job() / ranks)), "--device", device});
    if (!options_.backend.empty()) job.arguments.insert(job.arguments.end(), {"--backend", options_.backend});
    if (is_replayed_first(*training.example))
      job.arguments.insert(job.arguments.end(),
                           {"--journal", layout_.case_folder(*training.example) + "/journal.jsonl"});
    if (options_.resume) job.arguments.push_back("--resume");
    job.weight = static_cast<double>(training.example->train->steps) * training.example->replicas;
    return job;
  }

  // For trainings that are started by hand, as several ranks or elsewhere; `--resume` goes on from there.
  int write_cases() {
    for (const Training& training : plan_.trainings)
      std::printf("%s/case.json\n", training_job(training).folder.c_str());
    manifest_.write(layout_, plan_, "interrupted");
    return kDone;
  }

  void train() {
    std::vector<Job> jobs;
    std::vector<const Training*> trainings;
    for (const Training& training : plan_.trainings) {
      if (is_done(layout_.training_folder(training.key)) || !can_train(training)) continue;
      jobs.push_back(training_job(training));
      trainings.push_back(&training);
    }
    if (jobs.empty()) return;
    display_.line(fmt::format("training {} of {} (cases that differ only in the network share one)",
                              jobs.size(), plan_.trainings.size()));
    run_jobs(jobs, options_.jobs, "training", display_, [&](std::size_t i, const JobResult& result) {
      manifest_.add_wall_time("trainings", trainings[i]->key, result.wall_s);
      if (result.exit_status == kDone)
        display_.line(fmt::format("{}: done in {} (train/{})", jobs[i].name, human_duration(result.wall_s),
                                  trainings[i]->key));
      else
        note_failure(jobs[i], trainings[i]->cases, result);
      keep_outputs();
    });
  }

  void write_trace_of(const Case& config, const std::string& folder) const {
    Trace trace = trace_of(config);
    if (config.workload.step_time.kind == StepTime::Kind::kMeasured)
      trace.measured_s = measured_times(config);
    if (trace.plan.pipeline.by_bits) trace.bits = learned_bits(config, trace.plan.pipeline.hop_count());
    std::ostringstream text;
    write_trace(trace, text);
    write_file(folder + "/trace.jsonl", text.str());
  }

  std::vector<std::vector<double>> measured_times(const Case& config) const {
    CsvStream rows(layout_.training_folder(config) + "/step_times.csv", {"step", "replica", "compute_s"});
    const int replicas = training_replicas(plan_of(config), config.replicas);
    std::vector<std::vector<double>> times(as_index(config.steps()), std::vector<double>(as_index(replicas)));
    while (rows.next())
      times[as_index(rows.integer(0, 1, config.steps()) - 1)][as_index(rows.integer(1, 0, replicas - 1))] =
          rows.number(2);
    return times;
  }

  // [step − 1][replica][hop]
  std::vector<std::vector<std::vector<int>>> learned_bits(const Case& config, int hops) const {
    CsvStream rows(layout_.training_folder(config) + "/boundary_bits.csv",
                   {"step", "replica", "hop", "bits"});
    std::vector<std::vector<std::vector<int>>> bits(
        as_index(config.steps()),
        std::vector<std::vector<int>>(as_index(config.replicas), std::vector<int>(as_index(hops))));
    while (rows.next())
      bits.at(as_index(rows.integer(0) - 1)).at(as_index(rows.integer(1))).at(as_index(rows.integer(2))) =
          static_cast<int>(rows.integer(3));
    return bits;
  }

  Job replay_job(const Case& config) const {
    const std::string folder = layout_.case_folder(config);
    fs::create_directories(folder);
    write_file(folder + "/case.json", config.resolved.dump(2) + "\n");
    write_trace_of(config, folder);
    Job job{config.name, folder, {}, 1};
    // The analytic fidelity has no ns-3 in it: longhaul walks it itself.
    if (needs_simulator(config))
      job.arguments = {sibling_executable("longhaul-sim")};
    else
      job.arguments = {sibling_executable("longhaul"), "analytic"};
    job.arguments.insert(job.arguments.end(), {"--case", folder + "/case.json", "--trace",
                                               folder + "/trace.jsonl", "--out", folder});
    return job;
  }

  // Its training follows who took part in the operations of its replay. Such a training is of one case alone.
  static bool is_replayed_first(const Case& config) { return config.train && times_decide(config); }
  std::string replayed_mark(const Case& config) const { return layout_.case_folder(config) + "/replayed"; }

  bool can_train(const Training& training) {
    const Case& config = *training.example;
    if (!is_replayed_first(config) || fs::exists(replayed_mark(config))) return true;
    if (wants("replay")) return false;  // its replay failed
    throw InputError("--only",
                     "found train, but who takes part in case \"" + config.name +
                         "\" is decided by the times of its replay, which was not run",
                     "--only replay before it, or no --only");
  }

  // A case whose training failed has no trace to replay when its step times are measured, and no curve to
  // join.
  bool can_replay(const Case& config) const {
    return !failures_.count(config.name) && (!config.train || is_done(layout_.training_folder(config)));
  }

  // What is replayed before the training is joined with its curve after it.
  void replay(bool before_training) {
    std::vector<Job> jobs;
    std::vector<const Case*> cases;
    for (const Case* config : plan_.cases) {
      if (is_done(layout_.case_folder(*config))) continue;
      if (before_training && (!is_replayed_first(*config) || fs::exists(replayed_mark(*config)))) continue;
      if (!before_training && !can_replay(*config)) continue;
      if (!before_training && is_replayed_first(*config)) {
        finish_case(layout_, *config, kept_);
        continue;
      }
      jobs.push_back(replay_job(*config));
      cases.push_back(config);
    }
    if (jobs.empty()) return;
    display_.line(fmt::format("replaying {} of {} cases", jobs.size(), plan_.cases.size()));
    if (options_.timeline.empty() && kept_.tables && kept_.timeline == TimelineFormat::kNone)
      display_.line(
          fmt::format("more than {} cases: no timeline.json of each (--timeline json or gz writes them)",
                      kMostCasesWithTimelines));
    run_jobs(jobs, options_.jobs, "replay", display_, [&](std::size_t i, const JobResult& result) {
      manifest_.add_wall_time("replays", cases[i]->name, result.wall_s);
      if (result.exit_status != kDone) return note_failure(jobs[i], {cases[i]}, result);
      if (before_training)
        write_file(replayed_mark(*cases[i]), "");
      else
        finish_case(layout_, *cases[i], kept_);
      keep_outputs();
    });
  }

  // So that a run that is killed leaves a summary and a report of what it had. Not after every case: each
  // time all of them are read, and the more cases there are the rarer that is.
  void keep_outputs() {
    const auto now = std::chrono::steady_clock::now();
    const double pause_s = std::max(kSecondsBetweenOutputs, kPausePerSecondOfOutputs * outputs_took_s_);
    if (std::chrono::duration<double>(now - last_outputs_).count() < pause_s) return;
    write_outputs(layout_, scenario_, plan_.cases, failures_);
    last_outputs_ = std::chrono::steady_clock::now();
    outputs_took_s_ = std::chrono::duration<double>(last_outputs_ - now).count();
  }

  // Of the cases that needed the job. Wrong input ends the run, which then says what was wrong.
  void note_failure(const Job& job, const std::vector<const Case*>& cases, const JobResult& result) {
    if (result.exit_status != kInputWrong) display_.line(job.name + ": " + result.error);
    if (result.exit_status == kInterrupted || interrupts_so_far() > 0) return;
    for (const Case* config : cases) failures_[config->name] = result.error;
    input_wrong_ = input_wrong_ || result.exit_status == kInputWrong;
  }

  int conclude() {
    const int status = interrupts_so_far() > 0 ? kInterrupted
                       : input_wrong_          ? kInputWrong
                       : !failures_.empty()    ? kRunFailed
                                               : kDone;
    const char* words[] = {"done", "failed", "failed"};
    manifest_.write(layout_, plan_, status == kInterrupted ? "interrupted" : words[status]);
    if (options_.only == "train" && status == kDone) {
      std::printf("trained: %s/train/ (longhaul run ... --only replay --resume goes on)\n",
                  layout_.folder.c_str());
      return status;
    }
    write_outputs(layout_, scenario_, plan_.cases, failures_);
    if (status == kInputWrong) throw InputError({scenario_.file, "", failures_.begin()->second, "", ""});
    print_result();
    return status;
  }

  void print_result() const {
    if (options_.silent) return print_failures();
    const Json summary = read_summary(layout_.folder), verdicts = summary.value("claims", Json::array());
    const bool is_terminal = isatty(STDOUT_FILENO);
    const int columns = is_terminal ? terminal_columns(STDOUT_FILENO) : kColumnsOfAFile;
    if (!options_.quiet) {
      const TableOptions table{!is_terminal && options_.all_columns ? 0 : columns, options_.each_seed,
                               options_.all_columns};
      std::printf("\n%s\n", summary_table(summary, table).c_str());
      print_conclusions(columns);
    }
    for (const std::string& line : verdict_lines(verdicts)) std::printf("claim %s\n", line.c_str());
    print_failures();
    std::printf("report: %s\n", layout_.file("report.html").c_str());
    if (interrupts_so_far() > 0)
      std::printf("interrupted; continue with: longhaul run %s --out %s --resume\n", scenario_.file.c_str(),
                  layout_.folder.c_str());
  }

  // What cannot be read of the cases is in the report.
  void print_conclusions(int columns) const {
    try {
      const auto width = as_index(std::clamp(columns, 40, kWidestText));
      const std::string text =
          terminal_text(conclusions_markdown(conclusions_of(open_runs({layout_.folder}).runs)), width);
      if (!text.empty()) std::printf("%s", text.c_str());
    } catch (const InputError&) {
      return;  // no case is there
    } catch (const DamagedFile& error) {
      std::fprintf(stderr, "warning: %s\n", error.what());
    }
  }

  void print_failures() const {
    for (const auto& [name, error] : failures_)
      std::fprintf(stderr, "failed: %s: %s\n", name.c_str(), error.c_str());
  }

  const RunOptions& options_;
  const Scenario& scenario_;
  WorkPlan plan_;
  RunLayout layout_;
  FolderLock lock_;
  KeptFiles kept_;
  Manifest manifest_;
  LiveDisplay display_;
  std::map<std::string, std::string> failures_;
  bool input_wrong_ = false;
  std::chrono::steady_clock::time_point last_outputs_ = std::chrono::steady_clock::now();
  double outputs_took_s_ = 0;
};

void check_executables(const RunOptions& options, const Scenario& scenario) {
  const bool trains = std::any_of(scenario.cases.begin(), scenario.cases.end(),
                                  [](const Case& config) { return config.train.has_value(); });
  if (trains && (options.only.empty() || options.only == "train")) sibling_executable("longhaul-train");
  if (trains && options.ranks > 1 && program_on_path("mpirun").empty())
    throw InputError("--ranks", "mpirun was not found, which starts the ranks",
                     "Open MPI's mpirun on the search path", "Debian: apt-get install openmpi-bin");
  const bool simulates = std::any_of(scenario.cases.begin(), scenario.cases.end(), needs_simulator);
  if (simulates && (options.only.empty() || options.only == "replay")) sibling_executable("longhaul-sim");
}

// Before there is a folder. What is only written down for other machines is not for this one.
void check_machine(const RunOptions& options, const Scenario& scenario) {
  if (options.only == "cases" || options.only == "report") return;
  WorkPlan plan = plan_work(scenario, parse_shard(options.shard));
  if (options.only == "replay") plan.trainings.clear();
  const WorkEstimate work = estimate_work(plan, options.jobs, std::max(1, cores_here() / options.jobs),
                                          kept_files(options.timeline, scenario));
  if (!options.resume) check_corpora(plan, options.scenario);  // what has been trained needs no text
  const std::string folder = options.out.empty() ? "results" : options.out;
  const std::vector<std::string> warnings = machine_warnings(work, options.scenario, folder, options.device);
  if (!options.quiet && !options.resume) warn(warnings);
}

}  // namespace

int run_command(const RunOptions& options) {
  const Scenario scenario = validated_scenario(options.scenario, options.assignments);
  check_executables(options, scenario);
  check_machine(options, scenario);
  if (!options.quiet) warn(scenario_warnings(scenario));
  count_interrupts();
  return Run(options, scenario).execute();
}

}  // namespace longhaul
