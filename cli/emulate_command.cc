#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>

#include "analysis/record_values.h"
#include "analysis/run_files.h"
#include "analysis/runs/run_directory.h"
#include "analysis/text.h"
#include "cli/child_process.h"
#include "cli/commands.h"
#include "cli/run_outputs.h"
#include "cli/scratch_folder.h"
#include "cli/validated_scenario.h"
#include "core/base/errors.h"
#include "core/base/units.h"
#include "emulation/world.h"
#include "methods/common/registry.h"
#include "net/topologies/registry.h"
#include "replay/optimized_order.h"

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

std::string row(const Json& predicted, const Json& measured) {
  std::vector<std::string> cells = {predicted.at("case").get<std::string>()};
  for (const char* metric : {"sync_time_s.mean", "simulated_time_s"}) {
    const double said = number(predicted, metric), took = number(measured, metric);
    cells.insert(cells.end(), {fmt::format("{:.3f} s", took), fmt::format("{:.3f} s", said),
                               fmt::format("{:+.1f} %", 100 * (said / took - 1))});
  }
  return markdown_row(cells);
}

std::string table(const Json& predicted, const Json& measured) {
  std::string markdown =
      markdown_row({"case", "sync, measured", "predicted", "off", "whole, measured", "predicted", "off"}) +
      markdown_rule("lrrrrrr");
  for (std::size_t i = 0; i < predicted.at("cases").size(); ++i)
    markdown += row(predicted["cases"][i], measured.at("cases").at(i));
  return markdown + "\nsync: mean time of a synchronization, from the moment when all it needs are ready.\n";
}

double predicted_total_s(const Json& summary) {
  double total_s = 0;
  for (const Json& record : summary.at("cases")) total_s += number(record, "simulated_time_s");
  return total_s;
}

// The user's own program, on the terminal.
int run_program(const EmulateOptions& options, const Case& config, const std::string& folder) {
  const std::vector<std::string> arguments = in_world(config, folder, options.program);
  const auto begin = std::chrono::steady_clock::now();
  const int status = wait_for(start_process(arguments, "", "", STDOUT_FILENO, SIGKILL));
  const double took_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%s: %s on %d hosts, the world's making included\n", status == kDone ? "done" : "failed",
              human_duration(took_s).c_str(), config.workers());
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

int emulate_command(const EmulateOptions& options) {
  const Scenario scenario = validated_scenario(options.scenario, options.assignments);
  try {
    for (const Case& config : scenario.cases) check_emulated(config, topology_of(config));
  } catch (const InputError& error) {
    throw error.in_file(options.scenario);
  }
  if (options.script) {
    std::fputs(script_of(only_case(scenario, "--script")).c_str(), stdout);
    return kDone;
  }
  std::optional<ScratchFolder> scratch;
  const std::string folder = options.out.empty() ? scratch.emplace("emulate").path : options.out;
  if (!options.program.empty()) return run_program(options, only_case(scenario, "COMMAND"), folder);
  for (const bool emulates : {false, true}) {
    if (emulates)
      std::fprintf(stderr, "emulating %zu cases in real time: about %s\n", scenario.cases.size(),
                   human_duration(predicted_total_s(read_summary(folder + "/predicted"))).c_str());
    const int status =
        run_command(emulation_run(options, folder + (emulates ? "/measured" : "/predicted"), emulates));
    if (status != kDone) return status;
  }
  const std::string markdown = table(read_summary(folder + "/predicted"), read_summary(folder + "/measured"));
  std::fputs((options.format == "markdown" ? markdown : terminal_text(markdown, kTextWidth)).c_str(), stdout);
  return kDone;
}

}  // namespace longhaul
