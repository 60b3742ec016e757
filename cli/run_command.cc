#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "analysis/claims/claims.h"
#include "analysis/comparison/decision_words.h"
#include "analysis/residual.h"
#include "analysis/run_files.h"
#include "analysis/table.h"
#include "analysis/text.h"
#include "checks/validated_scenario.h"
#include "cli/child_process.h"
#include "cli/chosen_cases.h"
#include "cli/claim.h"
#include "cli/commands.h"
#include "cli/conclusions.h"
#include "cli/fit_ranges.h"
#include "cli/job_pool.h"
#include "cli/machine.h"
#include "cli/replay_job.h"
#include "cli/reused_trainings.h"
#include "cli/run_outputs.h"
#include "cli/typed_command.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/printable.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "methods/common/registry.h"
#include "replay/replay.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

constexpr double kSecondsBetweenOutputs = 10;
constexpr int kColumnsOfAFile = 100;                     // where standard output is no terminal
constexpr std::chrono::milliseconds kBetweenLooks{200};  // at what other processes are doing
// Tables and report of a thousand cases take seconds: no more than a twentieth of the run goes into them.
constexpr double kPausePerSecondOfOutputs = 20;

class Run {
 public:
  Run(const RunOptions& options, const Scenario& scenario, WorkPlan plan, ReusedTrainings reused)
      : options_(options),
        scenario_(scenario),
        plan_(std::move(plan)),
        reused_(std::move(reused)),
        layout_{choose_folder(options, scenario, plan_)},
        manifest_(scenario,
                  without_options(options.command, {"--only-case"})),  // of workers: all their cases
        display_(options.quiet) {
    if (options.only == "report")
      manifest_.keep(manifest_before());
    else
      manifest_.set_option("jobs", options.jobs);
    manifest_.set_option("shard", options.shard);
    if (options.emulates) manifest_.set_option("emulated", true);
    if (is_worker())
      begin_together();
    else
      begin_alone();
  }

  int execute() {
    if (options_.only == "cases") return write_cases();
    try {
      if (!reused_.empty()) in_rounds([&] { return take_over(); });
      if (wants("replay")) in_rounds([&] { return replay(/*before_training=*/true); });
      if (wants("train") && !stopped()) in_rounds([&] { return train(); });
      if (wants("replay") && !stopped()) in_rounds([&] { return replay(/*before_training=*/false); });
      return is_worker() ? conclude_part() : conclude();
    } catch (const RunError&) {
      // On a full disk the summary cannot be written either: the reader needs what failed first.
      print_failures();
      throw;
    }
  }

 private:
  bool wants(const std::string& part) const { return options_.only.empty() || options_.only == part; }
  bool stopped() const { return interrupts_so_far() > 0 || input_wrong_; }
  bool is_worker() const { return !options_.only_cases.empty(); }
  bool continues() const { return options_.resume || is_worker(); }

  void write_beginning() {
    write_file(layout_.file("scenario.json"), scenario_.written.dump(2) + "\n");
    manifest_.write(layout_, plan_, "running");
  }

  void begin_alone() {
    lock_ = Claim::take(layout_.file(".lock"));
    if (!lock_) refuse(holder_of(layout_.file(".lock")));
    if (const std::string worker = worker_in(layout_.folder); !worker.empty()) refuse(worker);
    remove_claims(layout_.folder);
    if (options_.overwrite) remove_run(layout_.folder);
    if (options_.only != "report") write_beginning();
  }

  // Of the folder; null where it has none that can be read.
  Json manifest_before() const {
    try {
      return read_json_or_null(layout_.file("manifest.json"));
    } catch (const DamagedFile&) {
      return nullptr;
    }
  }

  // The command to type next. `values`: options that it does not have, with their values.
  std::string continuing_command(const std::vector<std::string>& values = {}) const {
    return resuming_command(options_.command, "--out", layout_.folder, values);
  }

  // Workers begin one after the other: only the first finds no scenario.
  void begin_together() {
    std::unique_ptr<Claim> turn;
    while (!(turn = Claim::take(claim_of(layout_.folder))) && !stopped())
      std::this_thread::sleep_for(kBetweenLooks / 10);
    if (!turn) return;
    choose_folder(options_, scenario_, plan_);  // once more: another one may have begun another scenario
    if (!fs::exists(layout_.file("scenario.json"))) write_beginning();
  }

  [[noreturn]] void refuse(const std::string& who) const {
    throw RunError(fmt::format("{}: another process is writing here ({})", layout_.folder, who));
  }

  // Whether this run does the job that writes `folder` now. If not, `left_` says whether it is left for a
  // later round: to a process that is at it, or by a worker that has as many as it does at a time.
  bool take(const std::string& folder) {
    if (is_done(folder)) return false;
    std::unique_ptr<Claim> claim;
    if (is_worker()) {
      if (claims_.size() >= as_index(options_.jobs)) {
        left_ = true;
        return false;
      }
      claim = Claim::take(claim_of(folder));
      if (const std::string who = holder_of(layout_.file(".lock")); !who.empty()) refuse(who);
    }
    // A child outlives a worker that was killed by the moment that its last checkpoint takes.
    if ((is_worker() && !claim) || is_live(folder)) {
      left_ = true;
      if (waited_for_.insert(folder).second)
        display_.line(fmt::format("waiting for {} ({})", fs::relative(folder, layout_.folder).string(),
                                  holder_of(claim_of(folder))));
      return false;
    }
    if (is_done(folder)) return false;  // by the process that had it until now
    if (claim) claims_[folder] = std::move(claim);
    return true;
  }

  // Rounds of `work`, which returns how many jobs it did, until none is left for a later one.
  template <typename Work>
  void in_rounds(const Work& work) {
    do {
      left_ = false;
      if (work() == 0 && left_) std::this_thread::sleep_for(kBetweenLooks);
    } while (left_ && !stopped());
  }

  // "train diloco, seed 2": the seed where there are several, the swept values where they tell trainings
  // apart.
  std::string training_name(const Training& training) const {
    const Case& config = *training.example;
    const auto is_same_label = [&](const Training& other) {
      return other.example->method.label == config.method.label;
    };
    if (count_if(plan_.trainings, is_same_label) < 2) return "train " + config.method.label;
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
    const auto add = [&](const std::vector<std::string>& arguments) {
      job.arguments.insert(job.arguments.end(), arguments.begin(), arguments.end());
    };
    if (job.is_mpirun)
      add({program_on_path("mpirun"), "--oversubscribe", "--bind-to", "none", "-n", std::to_string(ranks)});
    if (job.is_mpirun && geteuid() == 0) add({"--allow-run-as-root"});
    const int threads = static_cast<int>(std::thread::hardware_concurrency()) / options_.jobs;
    add({sibling_executable("longhaul-train"), "--case", folder + "/case.json", "--out", folder, "--threads",
         std::to_string(std::max(1, threads / ranks)), "--device",
         options_.device.empty() ? training.example->train->device : options_.device});
    if (!options_.backend.empty()) add({"--backend", options_.backend});
    if (is_replayed_first(*training.example))
      add({"--journal", layout_.case_folder(*training.example) + "/journal.jsonl"});
    if (continues()) add({"--resume"});
    job.weight = static_cast<double>(training.example->train->steps) * training.example->replicas;
    return job;
  }

  // For trainings that are started by hand, as several ranks or elsewhere; `--resume` goes on from there.
  int write_cases() {
    for (const Training& training : plan_.trainings)
      std::printf("%s/case.json\n", training_job(training).folder.c_str());
    if (!is_worker()) manifest_.write(layout_, plan_, "interrupted");
    return kDone;
  }

  // The finished trainings of other runs.
  std::size_t take_over() {
    std::size_t taken = 0;
    for (const Training& training : plan_.trainings) {
      const std::string folder = layout_.training_folder(training.key);
      if (stopped() || !reused_.has(training.key) || !take(folder)) continue;
      reused_.copy(training.key, folder);
      claims_.erase(folder);
      ++taken;
    }
    if (taken) display_.line(fmt::format("taken {} of {} trainings", taken, plan_.trainings.size()));
    return taken;
  }

  std::size_t train() {
    std::vector<Job> jobs;
    std::vector<const Training*> trainings;
    for (const Training& training : plan_.trainings) {
      if (!can_train(training) || !take(layout_.training_folder(training.key))) continue;
      jobs.push_back(training_job(training));
      trainings.push_back(&training);
    }
    if (jobs.empty()) return 0;
    display_.line(fmt::format("training {} of {} (cases that differ only in the network share one)",
                              jobs.size(), plan_.trainings.size()));
    run_jobs(jobs, options_.jobs, "training", display_, [&](std::size_t i, const JobResult& result) {
      manifest_.add_wall_time("trainings", trainings[i]->key, result.wall_s);
      if (result.exit_status == kDone)
        display_.line(fmt::format("{}: done in {} (train/{})", jobs[i].name, human_duration(result.wall_s),
                                  trainings[i]->key));
      else
        note_failure(jobs[i], trainings[i]->cases, result);
      claims_.erase(jobs[i].folder);
      keep_outputs();
    });
    return jobs.size();
  }

  // Its training follows who took part in the operations of its replay. Such a training is of one case alone.
  static bool is_replayed_first(const Case& config) { return config.train && times_decide(config); }
  std::string replayed_mark(const Case& config) const { return layout_.case_folder(config) + "/replayed"; }

  bool can_train(const Training& training) {
    const Case& config = *training.example;
    if (is_done(layout_.training_folder(training.key)) || failures_.count(training.cases.front()->name) > 0)
      return false;
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

  // Of fidelity linux; two were measured.
  static constexpr int kMostThreadsOfReplay = 8;

  // What is replayed before the training is joined with its curve after it.
  std::size_t replay(bool before_training) {
    std::vector<Job> jobs;
    std::vector<const Case*> cases;
    double segments = 0, seconds = 0;  // of fidelity linux; of all
    for (const Case* config : plan_.cases) {
      const std::string folder = layout_.case_folder(*config);
      if (before_training && (!is_replayed_first(*config) || fs::exists(replayed_mark(*config)))) continue;
      if (!before_training && !can_replay(*config)) continue;
      if (failures_.count(config->name) > 0 || !take(folder)) continue;
      if (before_training && fs::exists(replayed_mark(*config))) {
        claims_.erase(folder);  // replayed by the process that had it until now
        continue;
      }
      if (!before_training && is_replayed_first(*config)) {
        finish_replayed(*config);
        claims_.erase(folder);
        continue;
      }
      jobs.push_back(replay_job(*config, full_trace(layout_, *config), folder, options_.emulates,
                                std::clamp(cores_here() / options_.jobs, 1, kMostThreadsOfReplay)));
      cases.push_back(config);
      const ReplayEstimate expected = replay_estimate(*config);
      jobs.back().weight = kStartOfReplay_s + expected.seconds;
      segments += static_cast<double>(expected.segments) + static_cast<double>(expected.segments_of_others);
      seconds += jobs.back().weight;
    }
    if (jobs.empty()) return 0;
    display_.line(fmt::format("replaying {} of {} cases", jobs.size(), plan_.cases.size()) +
                  (segments > 0 && !options_.emulates
                       ? fmt::format(": about {} segments, {} of one core", human_count(segments),
                                     human_duration(seconds))
                       : ""));
    run_jobs(jobs, options_.jobs, "replay", display_, [&](std::size_t i, const JobResult& result) {
      manifest_.add_wall_time("replays", cases[i]->name, result.wall_s);
      if (result.exit_status != kDone)
        note_failure(jobs[i], {cases[i]}, result);
      else if (before_training)
        write_file(replayed_mark(*cases[i]), "");
      else
        finish_replayed(*cases[i]);
      claims_.erase(jobs[i].folder);
      keep_outputs();
    });
    return jobs.size();
  }

  void finish_replayed(const Case& config) {
    if (!options_.emulates) fit_ranges_.write(layout_, config);
    finish_case(layout_, config, keeps_tables(scenario_));
  }

  // So that a run that is killed leaves a summary and a report of what it had. Not after every case: each
  // time all of them are read, and the more cases there are the rarer that is.
  void keep_outputs() {
    if (is_worker()) return;
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

  int status_now() const {
    return interrupts_so_far() > 0 ? kInterrupted
           : input_wrong_          ? kInputWrong
           : !failures_.empty()    ? kRunFailed
                                   : kDone;
  }

  std::size_t cases_done() const {
    return as_index(
        count_if(plan_.cases, [&](const Case* config) { return is_done(layout_.case_folder(*config)); }));
  }

  // Of a worker: tables and report are of all cases.
  int conclude_part() {
    const int status = status_now();
    if (status == kInputWrong) throw InputError({scenario_.file, "", failures_.begin()->second, "", ""});
    print_failures();
    if (!options_.quiet)
      say(stdout, fmt::format("done: {} of {} cases; the report is made by: {}\n", cases_done(),
                              plan_.cases.size(), continuing_command({"--only-case", "--only"})));
    return status;
  }

  int conclude() {
    const int status = status_now();
    const char* words[] = {"done", "failed", "failed"};
    const bool is_cut =
        status == kInterrupted || (options_.only == "report" && cases_done() < plan_.cases.size());
    manifest_.write(layout_, plan_, is_cut ? "interrupted" : words[status]);
    if (options_.only == "train" && status == kDone) {
      say(stdout, fmt::format("trained: {}/train/; continue with: {}\n", layout_.folder,
                              continuing_command({"--only"})));
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
      say(stdout, fmt::format("\n{}\n", summary_table(summary, table)));
      print_conclusions(layout_.folder, columns);
      if (const std::string text = outside_in_words(summary.value("cases", std::vector<Json>()));
          !text.empty())
        say(stdout, text + "\n");
    }
    for (const std::string& line : verdict_lines(verdicts)) say(stdout, "claim " + line + "\n");
    print_failures();
    if (options_.only == "replay")
      if (const std::string text = not_replayed_in_words(layout_.folder, plan_); !text.empty()) warn({text});
    say(stdout, fmt::format("report: {}\n", layout_.file("report.html")));
    if (interrupts_so_far() > 0)
      say(stdout, fmt::format("interrupted; continue with: {}\n", continuing_command()));
  }

  void print_failures() const {
    for (const auto& [name, error] : failures_) say(stderr, fmt::format("failed: {}: {}\n", name, error));
  }

  const RunOptions& options_;
  const Scenario& scenario_;
  WorkPlan plan_;
  const ReusedTrainings reused_;
  FitRanges fit_ranges_{scenario_};
  RunLayout layout_;
  std::unique_ptr<Claim> lock_;                           // of the whole folder; a worker has none
  std::map<std::string, std::unique_ptr<Claim>> claims_;  // of a worker, by the folder of a job
  std::set<std::string> waited_for_;                      // folders
  bool left_ = false;
  Manifest manifest_;
  LiveDisplay display_;
  std::map<std::string, std::string> failures_;
  bool input_wrong_ = false;
  std::chrono::steady_clock::time_point last_outputs_ = std::chrono::steady_clock::now();
  double outputs_took_s_ = 0;
};

void check_executables(const RunOptions& options, const WorkPlan& plan) {
  const bool trains = !plan.trainings.empty();
  if (trains && (options.only.empty() || options.only == "train")) sibling_executable("longhaul-train");
  if (trains && options.ranks > 1 && program_on_path("mpirun").empty())
    throw InputError("--ranks", "mpirun was not found, which starts the ranks",
                     "Open MPI's mpirun on the search path", "Debian: apt-get install openmpi-bin");
  const bool simulates =
      any_of(plan.cases, [](const Case* config) { return needs_simulator(config->network.fidelity); });
  if (simulates && (options.only.empty() || options.only == "replay")) sibling_executable("longhaul-sim");
}

// Before there is a folder. What is only written down for other machines is not for this one.
void check_machine(const RunOptions& options, const Scenario& scenario, WorkPlan plan) {
  if (options.only == "cases" || options.only == "report") return;
  if (options.only == "replay") plan.trainings.clear();
  const WorkEstimate work =
      estimate_work(plan, options.jobs, std::max(1, cores_here() / options.jobs), keeps_tables(scenario));
  if (!options.resume) check_corpora(plan, options.scenario);  // what has been trained needs no text
  const std::string folder = options.out.empty() ? "results" : options.out;
  const std::vector<std::string> warnings = machine_warnings(work, options.scenario, folder, options.device);
  if (!options.quiet && !options.resume) warn(warnings);
}

}  // namespace

int run_command(const RunOptions& options) {
  const Scenario scenario = validated_scenario(options.scenario, options.assignments, options.emulates);
  const WorkPlan plan = chosen_cases(options, scenario);
  if (options.list_cases) return list_cases(scenario, plan);
  const std::string default_folder = "results/" + scenario.name;
  const ReusedTrainings reused(options, default_folder, plan);
  const WorkPlan rest = reused.rest_of(plan);
  check_executables(options, rest);
  check_replay_alone(options, default_folder, plan, reused);
  check_machine(options, scenario, rest);
  if (!options.quiet) {
    if (options.warns) warn(scenario_warnings(scenario));
    warn(reused.warnings());
  }
  count_interrupts();
  leave_launcher();
  return Run(options, scenario, plan, reused).execute();
}

}  // namespace longhaul
