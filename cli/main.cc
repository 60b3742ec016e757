// The longhaul command: parse, call, turn errors into exit statuses.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <new>
#include <stdexcept>

#include "checks/validated_scenario.h"
#include "cli/commands.h"
#include "core/base/errors.h"
#include "core/base/json.h"
#include "core/base/printable.h"
#include "core/base/program_main.h"
#include "core/base/source_commit.h"
#include "emulation/kernel_network.h"
#include "replay/replay.h"

namespace {

using namespace longhaul;

void declare_run(CLI::App& app, RunOptions& options, int& status) {
  CLI::App* run = app.add_subcommand("run", "Train, replay, and write a run directory with its report");
  run->add_option("SCENARIO", options.scenario, "scenario file (JSON)")->required();
  run->add_option("--out", options.out, "run directory (default results/NAME, or the next free name)");
  run->add_option("--set", options.assignments, "key.path=value, overrides the scenario; may be repeated")
      ->allow_extra_args(false);
  run->add_option("--jobs", options.jobs, "trainings or replays at a time (default 1)")
      ->check(CLI::Range(1, 1024));
  run->add_option("--ranks", options.ranks,
                  "processes that a training is spread over by mpirun, on this machine; fewer where this "
                  "number does not divide its replicas (default 1)")
      ->check(CLI::Range(1, 1024));
  CLI::Option* shard =
      run->add_option("--shard", options.shard, "i/n: one of n parts of the cases, cut by estimated time");
  run->add_flag(
      "--list-cases", options.list_cases,
      "only print each case with its estimated seconds and bytes of memory, run alone; separated by tabs");
  CLI::Option* only_case =
      run->add_option("--only-case", options.only_cases,
                      "do this case alone, beside other processes in the same --out; --resume then makes the "
                      "report; may be repeated")
          ->allow_extra_args(false)
          ->excludes(shard);
  CLI::Option* trainings =
      run->add_option(
             "--trainings", options.trainings,
             "a run whose finished trainings are taken instead of training again, for another network; "
             "may be repeated")
          ->allow_extra_args(false);
  run->add_flag("--train-missing", options.trains_missing, "train what no run of --trainings has")
      ->needs(trainings);
  CLI::Option* resume =
      run->add_flag("--resume", options.resume, "continue the run in --out: what is done is kept");
  run->add_flag("--overwrite", options.overwrite, "remove the run that --out holds, and begin anew")
      ->excludes(resume)
      ->excludes(only_case);
  run->add_option("--only", options.only,
                  "train, replay or report; cases: write train/KEY/case.json for longhaul-train by hand")
      ->check(CLI::IsMember({"cases", "train", "replay", "report"}));
  run->add_option("--device", options.device, "cpu, cuda or auto; overrides train.device")
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}));
  run->add_option("--backend", options.backend,
                  "of the trainer: loop; threads on a CPU, stacked on a GPU (the default there)")
      ->check(CLI::IsMember({"loop", "threads", "stacked"}));
  run->add_flag("--seeds", options.each_seed,
                "a line for each seed in the table at the end (default: means over seeds)");
  run->add_flag("--all-columns", options.all_columns,
                "every column in the table at the end (default: the eight most important)");
  run->add_flag("--quiet", options.quiet, "only the report's path and errors");
  run->callback([&] { status = run_command(options); });
}

void declare_check(CLI::App& app, CheckOptions& options, int& status) {
  CLI::App* check =
      app.add_subcommand("check", "Validate only: the cases, and what they take in time, memory and disk");
  check->add_option("SCENARIO", options.scenario, "scenario file (JSON)")->required();
  check->add_option("--set", options.assignments, "key.path=value, overrides the scenario; may be repeated")
      ->allow_extra_args(false);
  check->add_flag("--cases", options.all_cases, "list all cases, also where there are many");
  CLI::Option* resolved = check->add_flag(
      "--resolved", options.resolved, "print the scenario with every default filled in (JSON), nothing else");
  check->add_flag("--json", options.json, "scenario, cases, estimate and warnings as JSON")
      ->excludes(resolved);
  check->add_flag("--anywhere", options.anywhere,
                  "for a run on another machine: do not hold it against this one's memory and disk");
  check->callback([&] { status = check_command(options); });
}

// Of a command that reads results, which may be damaged or somebody else's: what is wrong with them is wrong
// input, not a run that failed.
template <typename Command>
int over_results(const Command& command) {
  try {
    return command();
  } catch (const DamagedFile& error) {
    throw InputError("", error.what(), "");
  } catch (const Json::exception& error) {
    throw in_our_words(error).in_file("the results");
  } catch (const std::logic_error& error) {
    throw InputError("", fmt::format("the results are not as a run writes them ({})", error.what()),
                     "folders that longhaul run has written");
  } catch (const std::bad_alloc&) {
    throw InputError("", "the results need more memory than there is",
                     "folders that longhaul run has written");
  }
}

void declare_report(CLI::App& app, ReportOptions& options, int& status) {
  CLI::App* report = app.add_subcommand("report", "One self-contained HTML file from run directories");
  report->add_option("RUN", options.runs, "run directories; shards of a scenario are one run")->required();
  report->add_option("-o,--output", options.out,
                     "the file (default RUN/report.html, or report.html for several)");
  report->callback([&] { status = over_results([&] { return report_command(options); }); });
}

// What `run` starts for a case of fidelity analytic or linux, as it starts longhaul-sim for the others.
void declare_own_replays(CLI::App& app, ReplayArguments& arguments, int& status) {
  CLI::App* analytic = app.add_subcommand("analytic", "Walk one case of fidelity analytic (docs/formats.md)");
  analytic->group("");
  declare_replay_arguments(*analytic, arguments);
  analytic->callback([&] { status = replay_program("longhaul analytic", arguments, analytic_replay); });
  CLI::App* linux_case = app.add_subcommand("linux", "Replay one case of fidelity linux (docs/formats.md)");
  linux_case->group("");
  declare_replay_arguments(*linux_case, arguments);
  linux_case->add_option("--threads", arguments.threads, "of the processor; they change no result")
      ->check(CLI::Range(1, 256));
  linux_case->callback(
      [&] { status = replay_program("longhaul linux", arguments, linux_replay_by(arguments.threads)); });
}

void declare_claims(CLI::App& app, std::vector<std::string>& runs, std::string& out, int& status) {
  CLI::App* claims = app.add_subcommand("claims", "The verdict matrix of every claim of run directories");
  claims->add_option("RUN", runs, "run directories; shards of a scenario are judged together")->required();
  claims->add_option("-o,--output", out, "a Markdown file (default: standard output)");
  claims->callback([&] { status = over_results([&] { return claims_command(runs, out); }); });
}

void declare_validate(CLI::App& app, ValidateOptions& options, int& status) {
  CLI::App* validate = app.add_subcommand(
      "validate", "Runs that others measured: what this tool predicts beside what they published");
  validate->add_option("NAME", options.names,
                       "scenarios of scenarios/validation, files with a section `validation`, or folders of "
                       "them (default: all)");
  validate->add_option("--out", options.out, "keep the run directories in this folder (default: removed)");
  validate->add_option("--format", options.format, "text or markdown")
      ->check(CLI::IsMember({"text", "markdown"}))
      ->capture_default_str();
  validate->add_option("--page", options.page, "the same as a page (HTML), with a picture");
  validate->add_option("--jobs", options.jobs, "replays at a time (default 1)")->check(CLI::Range(1, 1024));
  validate->callback([&] { status = validate_command(options); });
}

void declare_fit(CLI::App& app, FitOptions& options, int& status) {
  CLI::App* fit = app.add_subcommand(
      "fit", "What a scenario does not know, from what was observed: values, intervals, predictions");
  fit->add_option("SCENARIO", options.scenario, "scenario file (JSON) that simulates only the network")
      ->required();
  fit->add_option("OBSERVED", options.observed,
                  "what python -m longhaul.observed wrote (default: the figures of the scenario's section "
                  "`validation`)");
  fit->add_option("--set", options.assignments, "key.path=value, overrides the scenario; may be repeated")
      ->allow_extra_args(false);
  fit->add_option(
         "--unknown", options.unknowns,
         "PATH=FROM..TO, or PATH=VALUE|VALUE, beside those of the scenario's section `fit`; may be repeated")
      ->allow_extra_args(false);
  fit->add_option(
         "--on", options.fitted,
         "of the section `validation`: fit these figures alone, by number from 1, and predict the others")
      ->delimiter(',')
      ->check(CLI::Range(1, 1000000));
  fit->add_option("-o,--output", options.out,
                  "a new folder (default results/NAME-fit, or the next free name)");
  fit->add_option("--jobs", options.jobs, "replays at a time (default: as many as there are cores)")
      ->check(CLI::Range(1, 1024));
  fit->add_flag("--quiet", options.quiet, "no progress");
  fit->footer(
      "Writes OUT/scenario.json (with the values found), OUT/fit.json and OUT/fit.html (docs/howto/fit.md).");
  fit->callback([&] { status = fit_command(options); });
}

void declare_verify(CLI::App& app, VerifyOptions& options, int& status) {
  CLI::App* verify = app.add_subcommand(
      "verify", "What was observed beside what a scenario predicts, with the range of each prediction");
  verify
      ->add_option("SCENARIO", options.scenario,
                   "scenario file (JSON), as longhaul fit writes it or any other")
      ->required();
  verify->add_option("OBSERVED", options.observed,
                     "what python -m longhaul.observed wrote (default: the figures of the scenario's section "
                     "`validation`)");
  verify->add_option("--set", options.assignments, "key.path=value, overrides the scenario; may be repeated")
      ->allow_extra_args(false);
  verify->add_option("-o,--output", options.out, "the same as a page (HTML; default: none)");
  verify->add_option("--jobs", options.jobs, "replays at a time (default: as many as there are cores)")
      ->check(CLI::Range(1, 1024));
  verify->add_flag("--quiet", options.quiet, "no progress");
  verify->callback([&] { status = verify_command(options); });
}

void declare_emulate(CLI::App& app, EmulateOptions& options, int& status) {
  CLI::App* emulate = app.add_subcommand(
      "emulate", "The scenario's exchanges over the kernel's own TCP: measured beside predicted");
  emulate->add_option("SCENARIO", options.scenario, "scenario file (JSON) that simulates only the network")
      ->required();
  emulate->add_option("--set", options.assignments, "key.path=value, overrides the scenario; may be repeated")
      ->allow_extra_args(false);
  CLI::Option* script =
      emulate->add_flag("--script", options.script,
                        "print the shell script that makes the hosts of the only case, nothing else");
  emulate->add_option("--out", options.out, "keep both run directories in this folder (default: removed)");
  emulate->add_option("--format", options.format, "text or markdown")
      ->check(CLI::IsMember({"text", "markdown"}))
      ->capture_default_str();
  emulate
      ->add_option("COMMAND", options.program,
                   "behind --: run this on each host instead, with RANK, WORLD_SIZE, MASTER_ADDR set")
      ->excludes(script);
  emulate->callback([&] { status = emulate_command(options); });
}

// What a world's script and an emulated run start.
void declare_inside_world(CLI::App& app, std::string& case_file, int& hosts, ReplayArguments& arguments,
                          int& status) {
  CLI::App* relay = app.add_subcommand("relay", "The links between the hosts of an emulated case");
  relay->group("");
  relay->add_option("--case", case_file, "case.json of the case")->required();
  relay->callback([&] { status = relay_command(case_file); });
  CLI::App* lateness = app.add_subcommand("lateness", "How late the relay of this world was");
  lateness->group("");
  lateness->add_option("HOSTS", hosts, "hosts of the world")->required();
  lateness->callback([&] { status = lateness_command(hosts); });
  CLI::App* emulated = app.add_subcommand("emulated", "Replay one case on the hosts of its world");
  emulated->group("");
  declare_replay_arguments(*emulated, arguments);
  emulated->callback([&] {
    arguments.is_emulated = true;
    status = replay_program("longhaul emulated", arguments, emulated_replay);
  });
}

void declare_compare(CLI::App& app, CompareOptions& options, int& status) {
  CLI::App* compare =
      app.add_subcommand("compare", "Means over seeds with intervals, and which differences are shown");
  compare->add_option("RUN", options.runs, "run directories")->required();
  compare
      ->add_option("--by", options.request.by,
                   "what is compared: method, run, or a key of the scenario; all else makes the rows")
      ->capture_default_str();
  compare
      ->add_option("--metric", options.request.metrics,
                   "a number of the case records, as sync_time_s.p95, or the loss at equal time or bytes, as "
                   "loss@10min, loss@5GB; may be repeated (default: losses and times)")
      ->allow_extra_args(false);
  compare
      ->add_option("--pair", options.request.pairs,
                   "a:b: only this comparison, so that p is corrected for those that were planned; may be "
                   "repeated")
      ->allow_extra_args(false);
  compare
      ->add_option("--margin", options.request.margin,
                   "a difference that would not matter: also says which pairs are equal to within it")
      ->check(check_above_zero, "POSITIVE");
  compare->add_option("--where", options.request.where, "key=value: only these cases; may be repeated")
      ->allow_extra_args(false);
  compare->add_option("--format", options.format, "text, markdown or json (default: by the ending of -o)")
      ->check(CLI::IsMember({"text", "markdown", "json"}));
  compare->add_option("-o,--output", options.out, "a file (default: standard output)");
  compare->callback([&] { status = over_results([&] { return compare_command(options); }); });
}

void declare_plot(CLI::App& app, PlotOptions& options, int& status) {
  CLI::App* plot =
      app.add_subcommand("plot", "Figures for papers, with the Python scripts and data that draw them");
  plot->add_option("RUN", options.runs, "run directories")->required();
  plot->add_option("-o,--output", options.out, "a folder (default RUN/figures, or figures for several)");
  plot->add_option("--size", options.size, "single (3.5 in wide, one column) or double (7.2 in)")
      ->check(CLI::IsMember({"single", "double"}))
      ->capture_default_str();
  plot->add_option("--format", options.formats, "of svg, pdf and png (default svg,pdf)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"svg", "pdf", "png"}));
  plot->add_option("--metric", options.request.metrics,
                   "a number of the case records to plot against the sweep; may be repeated")
      ->allow_extra_args(false);
  plot->add_option("--where", options.request.where, "key=value: only these cases; may be repeated")
      ->allow_extra_args(false);
  plot->add_option("--only", options.only,
                   "the name of a figure to make, * for any text (claim-*); may be repeated")
      ->allow_extra_args(false);
  plot->add_flag("--list", options.list, "name the figures with what they are about, and make none");
  plot->add_flag("--dark", options.dark, "light on dark, for screens (default: for print)");
  plot->add_flag("--log-x", options.log_x, "logarithmic axes of time, steps, bytes and swept numbers");
  plot->callback([&] { status = over_results([&] { return plot_command(options); }); });
}

void declare_new(CLI::App& app, std::string& out, int& status) {
  CLI::App* made =
      app.add_subcommand("new", "Write a commented scenario to start from, a copy of scenarios/new.jsonc");
  made->add_option("-o,--output", out, "the file (JSON with comments)")->capture_default_str();
  made->footer(
      "Change in it: `methods` (longhaul list methods), `replicas`, `network.topology` (longhaul list "
      "networks), `train.data`, as {\"text\": [\"my/*.txt\"]}. Without `train`, and with `workload.steps`, "
      "only the network is simulated.");
  made->callback([&] { status = new_command(out); });
}

void declare_plan(CLI::App& app, PlanOptions& options, int& status) {
  CLI::App* plan = app.add_subcommand(
      "plan",
      "How to run a training: search methods, H, codecs, collectives and placements for time, money, bytes");
  CLI::Option* file = plan->add_option(
      "PLAN", options.plan,
      "plan file (JSON; docs/howto/plan.md), or a scenario with rollouts (docs/howto/rollouts.md)");
  plan->add_option("-o,--output", options.out,
                   "a new folder (default results/NAME-plan, or the next free name)");
  plan->add_option("--jobs", options.jobs, "replays at a time (default: as many as there are cores)")
      ->check(CLI::Range(1, 1024));
  plan->add_flag(
      "--resume", options.resume,
      "continue the plan in this folder that was interrupted or killed, with the replays that it has made");
  plan->add_flag("--quiet", options.quiet, "only the sentence that decides, paths and errors");
  const CLI::Option* keys =
      plan->add_flag("--options", "every key of a plan file, and the known accelerators");
  const CLI::Option* schema = plan->add_flag("--schema", "the JSON Schema of a plan file");
  plan->footer(
      "Writes OUT/plan.json, OUT/scenario.json (the choice, for longhaul check and run), OUT/plan.html and "
      "OUT/launch.sh.");
  plan->callback([&options, &status, file, keys, schema] {
    if (keys->count() > 0)
      status = plan_options_command();
    else if (schema->count() > 0)
      status = plan_schema_command();
    else if (file->count() == 0)
      throw InputError("PLAN", "no plan file was given", "longhaul plan PLAN.json",
                       "longhaul plan --options has its keys, scenarios/plans/ examples");
    else
      status = plan_command(options);
  });
}

void declare_measured(CLI::App& app, MeasuredOptions& options, int& status) {
  CLI::App* measured = app.add_subcommand(
      "measured", "A matrix of sites from what iperf3, nccl-tests, ping and their like have printed");
  measured
      ->add_option("FILE", options.files,
                   "what iperf3 --json, nccl-tests, ping or another tool of "
                   "docs/reference/formats/measurements.md printed, a table (.csv), or a folder of them")
      ->required();
  measured->add_option("--site", options.sites, "NAME[=HOST[,HOST]]; for each site")
      ->required()
      ->allow_extra_args(false);
  CLI::Option* inside = measured->add_option("--inside", options.inside,
                                             "RTT,RATE between two machines of a site: 0.5ms,940Mbps");
  measured->add_option("--rtt", options.rtts, "NAME,NAME=RTT where no ping has it; may be repeated")
      ->allow_extra_args(false);
  measured->add_option("--throughput", options.throughput,
                       "what one connection carries where no file says it: 300Mbps");
  measured->add_option("-o,--output", options.out, "the matrix (default: standard output)");
  measured->add_flag("--list", options.list,
                     "only say what each file has: a JSON object a line for each test");
  measured->callback([&options, &status, inside] {
    if (inside->count() == 0 && !options.list)
      throw InputError("--inside", "was not given", "a round trip and a rate, as 0.5ms,940Mbps",
                       "a matrix says what two machines of a site have between them");
    status = measured_command(options);
  });
}

void declare_list(CLI::App& app, std::string& topic, std::string& section, int& status) {
  CLI::App* list = app.add_subcommand("list", "What a scenario can name: " + join(list_topics()));
  list->add_option("TOPIC", topic, join(list_topics()))->required()->check(CLI::IsMember(list_topics()));
  list->add_option("SECTION", section,
                   "of options: only this key and those inside it, as network.tcp or methods.noloco");
  list->callback([&] { status = list_command(topic, section); });
}

// Behind all others: it knows their names.
void declare_help(CLI::App& app, std::string& of, int& status) {
  CLI::App* help = app.add_subcommand("help", "What a command does, and its options");
  help->add_option("COMMAND", of, "default: all commands")->check(CLI::IsMember(names_of(commands_of(app))));
  help->callback([&app, &of, &status] {
    // Not app.help(), which would show the help of the command that was given: of help.
    const std::string text =
        of.empty() ? app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal)
                   : app.get_subcommand(of)->help(app.get_name());
    std::fputs(text.c_str(), stdout);
    status = kDone;
  });
}

int fail(const std::exception& error, int status) {
  say(stderr, fmt::format("error: {}\n", error.what()));
  return status;
}

int command(int argc, char** argv) {
  CLI::App app(
      "Longhaul trains real replicas of a language model with low-communication methods, replays their "
      "exchanges on an ns-3 wide-area network, and reports loss against simulated time.",
      "longhaul");
  app.set_version_flag("--version", std::string("longhaul " LONGHAUL_VERSION " (") + source_commit() + ")");
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done, 1 the run failed, 2 the input is wrong, 130 interrupted.\n"
      "Options of a scenario: longhaul list options. Example: longhaul run scenarios/quickstart.json");
  int status = 0;
  RunOptions options;
  options.command.assign(argv, argv + argc);
  std::vector<std::string> runs;
  std::string out, topic, section;
  ReportOptions report;
  declare_run(app, options, status);
  CheckOptions check;
  declare_check(app, check, status);
  declare_report(app, report, status);
  declare_claims(app, runs, out, status);
  ValidateOptions validate;
  validate.command = options.command;
  declare_validate(app, validate, status);
  FitOptions fit;
  declare_fit(app, fit, status);
  VerifyOptions verify;
  declare_verify(app, verify, status);
  EmulateOptions emulate;
  emulate.command = options.command;
  declare_emulate(app, emulate, status);
  CompareOptions compare;
  declare_compare(app, compare, status);
  PlotOptions plot;
  declare_plot(app, plot, status);
  PlanOptions plan;
  plan.command = options.command;
  declare_plan(app, plan, status);
  MeasuredOptions measured;
  declare_measured(app, measured, status);
  std::string made = "my-scenario.jsonc";
  declare_new(app, made, status);
  declare_list(app, topic, section, status);
  ReplayArguments replay;
  declare_own_replays(app, replay, status);
  std::string relayed_case;
  int hosts = 0;
  ReplayArguments emulated;
  declare_inside_world(app, relayed_case, hosts, emulated, status);
  std::string of;
  declare_help(app, of, status);
  try {
    app.parse(argc, argv);
    return status;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return fail(command_line_error(app, error, {argv + 1, argv + argc}), kInputWrong);
  } catch (const InputError& error) {
    return fail(error, kInputWrong);
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(RunError(error.path1().string() + ": " + error.code().message()), kRunFailed);
  } catch (const std::exception& error) {
    return fail(error, kRunFailed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return program_main("longhaul", [&] { return command(argc, argv); });
}
