#include <fmt/core.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>

#include "analysis/record_values.h"
#include "analysis/run_files.h"
#include "analysis/runs/run_directory.h"
#include "analysis/text.h"
#include "checks/validated_scenario.h"
#include "cli/child_process.h"
#include "cli/commands.h"
#include "cli/machine.h"
#include "cli/output_place.h"
#include "cli/run_outputs.h"
#include "cli/scratch_folder.h"
#include "core/base/errors.h"
#include "core/base/units.h"
#include "emulation/delay_relay.h"
#include "emulation/lateness.h"
#include "emulation/world.h"
#include "methods/common/registry.h"
#include "net/topologies/registry.h"
#include "net/variation/path_losses.h"
#include "replay/placement/optimized_order.h"

namespace longhaul {
namespace {

Topology topology_of(const Case& config) {
  return placed_topology(config, plan_of(config));
}

// Checked. Throws InputError without a file.
std::string script_of(const Case& config) {
  const Topology topology = topology_of(config);
  check_emulated(config, topology);
  return world_script(config, topology, sibling_executable("longhaul"));
}

const Case& only_case(const Scenario& scenario, const std::string& for_what) {
  if (scenario.cases.size() != 1)
    throw InputError(for_what, fmt::format("{} has {} cases", scenario.file, scenario.cases.size()),
                     "a scenario of one case", "--set key.path=value takes one value of a sweep");
  return scenario.cases.front();
}

RunOptions emulation_run(const EmulateOptions& options, const std::string& folder, bool emulates) {
  RunOptions run;
  run.scenario = options.scenario;
  run.assignments = options.assignments;
  run.out = folder;
  run.quiet = !emulates;
  run.silent = true;
  run.emulates = emulates;
  run.command = options.command;
  return run;
}

// Of the records of one run, which stand in the order of the cases.
double number(const Json& record, const std::string& metric) {
  return value_at(record, metric).value_or(std::nan(""));
}

// What the closing table shows of the cases that have it.
struct ShownTime {
  const char *metric, *heading, *meaning;
};

std::vector<ShownTime> shown_times(const Json& measured) {
  constexpr ShownTime kTimes[] = {
      {"sync_time_s.mean", "sync",
       "mean time of a synchronization, from the moment when all it needs are ready"},
      {"refit_time_s.mean", "refit",
       "mean time from the end of a step until all groups generate with the weights that it trained"},
      {"simulated_time_s", "whole", ""}};
  std::vector<ShownTime> shown;
  for (const ShownTime& time : kTimes)
    for (const Json& record : measured.at("cases"))
      if (value_at(record, time.metric)) {
        shown.push_back(time);
        break;
      }
  return shown;
}

// `predicted`: null where there is no prediction.
std::string row(const std::vector<ShownTime>& times, const Json& predicted, const Json& measured) {
  std::vector<std::string> cells = {measured.at("case").get<std::string>()};
  for (const ShownTime& time : times) {
    const std::size_t columns = predicted.is_null() ? 1 : 3;
    if (!value_at(measured, time.metric)) {
      cells.insert(cells.end(), columns, "");
      continue;
    }
    const double took = number(measured, time.metric);
    cells.push_back(fmt::format("{:.3f} s", took));
    if (predicted.is_null()) continue;
    const double said = number(predicted, time.metric);
    cells.insert(cells.end(),
                 {fmt::format("{:.3f} s", said), fmt::format("{:+.1f} %", 100 * (said / took - 1))});
  }
  return markdown_row(cells);
}

// `predicted`: as above.
std::string table(const Json& predicted, const Json& measured) {
  const std::vector<ShownTime> times = shown_times(measured);
  std::vector<std::string> headings = {"case"};
  std::string rule = "l", meanings;
  for (const ShownTime& time : times) {
    headings.push_back(fmt::format("{}, measured", time.heading));
    if (!predicted.is_null()) headings.insert(headings.end(), {"predicted", "off"});
    rule += predicted.is_null() ? "r" : "rrr";
    if (*time.meaning) meanings += fmt::format("\n{}: {}.\n", time.heading, time.meaning);
  }
  std::string markdown = markdown_row(headings) + markdown_rule(rule);
  for (std::size_t i = 0; i < measured.at("cases").size(); ++i)
    markdown += row(times, predicted.is_null() ? Json() : predicted.at("cases").at(i), measured["cases"][i]);
  return markdown + meanings;
}

// Why no fidelity says what its cases will take; "" where one does.
std::string why_no_prediction(const Scenario& scenario) {
  for (const Case& config : scenario.cases) {
    try {
      check_losses(config.network, topology_of(config));
    } catch (const InputError& error) {
      return error.parts().path + ": " + error.parts().found;
    }
  }
  return "";
}

double predicted_total_s(const Json& summary) {
  double total_s = 0;
  for (const Json& record : summary.at("cases")) total_s += number(record, "simulated_time_s");
  return total_s;
}

// What all hosts together may send at once, bit/s.
double offered_rate(const Case& config) {
  const Topology topology = topology_of(config);
  double sum = 0;
  for (int host = 0; host < topology.replicas() && topology.replicas() > 1; ++host)
    sum += topology.rate(topology.path(host, host == 0 ? 1 : 0).directions.front());
  return sum;
}

// Said before, since it may be minutes until the figures come.
void warn_of_rates(const Scenario& scenario) {
  constexpr double kCarriedByACore = 0.1e9;  // results/reference/kernel/emulated.md: two busy ones, 0.2 Gb/s
  double most = 0;
  for (const Case& config : scenario.cases) most = std::max(most, offered_rate(config));
  const double carried = kCarriedByACore * cores_here();
  if (most <= carried) return;
  std::fprintf(
      stderr,
      "warning: the hosts may send %s at once, and %d cores were measured to carry %s: times may be those "
      "of this machine (what is late is counted)\n",
      human_rate(most).c_str(), cores_here(), human_rate(carried).c_str());
}

// "CASE: this machine did not carry the rates: ...", a line for each such case.
std::string late_cases(const std::string& measured, const Json& summary) {
  std::string lines;
  for (const Json& record : summary.at("cases")) {
    const std::string name = record.at("case").get<std::string>();
    const Json relay = read_json_or_null(measured + "/cases/" + name + "/relay.json");
    if (const std::string words = text_of(relay, "words"); !words.empty())
      lines += name + ": " + words + "\n";
  }
  return lines.empty() ? "" : "\n" + lines;
}

// Of each case in which times decide who takes part in an exchange. `predicted`: as above.
std::string cases_decided_by_times(const Scenario& scenario, const Json& predicted, const Json& measured) {
  std::string lines;
  if (predicted.is_null()) return lines;
  for (std::size_t i = 0; i < scenario.cases.size(); ++i) {
    if (!times_decide(scenario.cases[i])) continue;
    const Json& record = measured.at("cases").at(i);
    lines +=
        fmt::format("{}: times decide who takes part: {} exchanges measured, {} predicted, maybe of others\n",
                    record.at("case").get<std::string>(), record.value("exchanges", 0),
                    predicted.at("cases").at(i).value("exchanges", 0));
  }
  return lines.empty() ? "" : "\n" + lines;
}

// The first interrupt is passed on to the program, the second ends it.
int wait_for_program(pid_t child) {
  int passed_on = 0, status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
    const int interrupts = interrupts_so_far();
    if (interrupts > passed_on) kill(-child, passed_on == 0 ? SIGINT : SIGKILL);
    passed_on = interrupts;
    constexpr int kBetween_us = 20000;
    usleep(kBetween_us);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The user's own program, on the terminal.
int run_program(const EmulateOptions& options, const Case& config, const std::string& folder) {
  const std::vector<std::string> arguments = in_world(config, folder, options.program);
  const auto begin = std::chrono::steady_clock::now();
  count_interrupts();
  const int status = wait_for_program(start_process(arguments, "", "", STDOUT_FILENO, SIGKILL));
  if (interrupts_so_far() > 0) return kInterrupted;
  const double took_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%s: %s on %d hosts, the world's making included\n", status == kDone ? "done" : "failed",
              human_duration(took_s).c_str(), config.hosts());
  return status == kDone ? kDone : kRunFailed;
}

}  // namespace

std::vector<std::string> in_world(const Case& config, const std::string& folder,
                                  const std::vector<std::string>& command) {
  write_file(folder + "/world.sh", script_of(config));
  std::vector<std::string> arguments = {program_on_path("sh"), folder + "/world.sh"};
  arguments.insert(arguments.end(), command.begin(), command.end());
  return arguments;
}

int relay_command(const std::string& case_file) {
  const Case config = read_case(case_file);
  start_relay(topology_of(config), config.network.tcp.loss, config.seed);
  return kDone;
}

int lateness_command(int hosts) {
  if (const std::string words = lateness_in_words(lateness_of_world(hosts)); !words.empty())
    std::printf("warning: %s\n", words.c_str());
  return kDone;
}

int emulate_command(const EmulateOptions& options) {
  const Scenario scenario = validated_scenario(options.scenario, options.assignments, /*is_emulated=*/true);
  try {
    for (const Case& config : scenario.cases) check_emulated(config, topology_of(config));
  } catch (const InputError& error) {
    throw error.in_file(options.scenario);
  }
  if (options.script) {
    std::fputs(script_of(only_case(scenario, "--script")).c_str(), stdout);
    return kDone;
  }
  warn_of_rates(scenario);
  std::optional<ScratchFolder> scratch;
  const std::string folder =
      options.out.empty() ? scratch.emplace("emulate").path : made_folder("--out", options.out);
  if (!options.program.empty()) return run_program(options, only_case(scenario, "COMMAND"), folder);
  for (const char* part : {"/predicted", "/measured"}) check_holds_no_run("--out", folder + part);
  const std::string unpredicted = why_no_prediction(scenario);
  if (!unpredicted.empty()) std::fprintf(stderr, "no prediction: %s\n", unpredicted.c_str());
  for (const bool emulates : {false, true}) {
    if (!emulates && !unpredicted.empty()) continue;
    if (emulates)
      std::fprintf(
          stderr, "emulating %s in real time%s\n", counted(scenario.cases.size(), "case").c_str(),
          unpredicted.empty()
              ? (": about " + human_duration(predicted_total_s(read_summary(folder + "/predicted")))).c_str()
              : "");
    const int status =
        run_command(emulation_run(options, folder + (emulates ? "/measured" : "/predicted"), emulates));
    if (status != kDone) return status;
  }
  const Json measured = read_summary(folder + "/measured");
  const Json predicted = unpredicted.empty() ? read_summary(folder + "/predicted") : Json();
  const std::string markdown = table(predicted, measured) +
                               cases_decided_by_times(scenario, predicted, measured) +
                               late_cases(folder + "/measured", measured);
  std::fputs((options.format == "markdown" ? markdown : terminal_text(markdown, kTextWidth)).c_str(), stdout);
  return kDone;
}

}  // namespace longhaul
