#include <fmt/core.h>

#include <cstdio>
#include <sstream>

#include "analysis/comparison/budget_loss.h"
#include "analysis/run_files.h"
#include "cli/child_process.h"
#include "cli/commands.h"
#include "cli/output_place.h"
#include "cli/python_scripts.h"
#include "cli/scratch_folder.h"
#include "core/base/errors.h"
#include "core/base/printable.h"

namespace longhaul {

int plot_command(const PlotOptions& options) {
  const ScratchFolder scratch("plot");
  const char* const finds =
      "import importlib.util, sys; sys.exit(not importlib.util.find_spec('matplotlib'))";
  const std::string interpreter = program_on_path("python3", [&](const std::string& file) {
    return options.list || output_of({file, "-c", finds}, scratch.path).first == 0;
  });
  if (interpreter.empty())
    throw InputError("", "matplotlib was not found, which draws the figures",
                     "a python3 on the search path that has it",
                     "Debian: apt-get install python3-matplotlib");
  RunDirectories opened = open_runs(options.runs);
  const std::vector<std::string> notes = add_budget_losses(options.request.metrics, opened.runs);
  warn(opened.problems);
  warn(not_given_notes(opened.runs));
  warn(notes);
  const std::string usual = options.runs.size() == 1 ? options.runs[0] + "/figures" : "figures",
                    folder = options.out.empty() ? usual : options.out,
                    request = scratch.path + "/request.json";
  const Json json = {{"data", figure_data(opened.runs, options.request)},
                     {"out", folder},
                     {"size", options.size},
                     {"formats", options.formats},
                     {"theme", options.dark ? "dark" : "print"},
                     {"only", options.only},
                     {"log_x", options.log_x},
                     {"list", options.list}};
  write_file(request, json.dump(-1, ' ', false, Json::error_handler_t::replace));
  write_python_scripts(scratch.path);
  if (!options.list) made_folder("--output", folder);
  const auto [status, said] = output_of({interpreter, scratch.path + "/figures.py", request}, scratch.path);
  std::stringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    const bool is_result = status == kDone && line.rfind("warning: ", 0) != 0;
    say(is_result ? stdout : stderr, line + "\n");
  }
  if (status != kDone && status != kRunFailed && status != kInputWrong)
    throw RunError(fmt::format("{} failed with status {}", interpreter, status));
  return status;
}

}  // namespace longhaul
