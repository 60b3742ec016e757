#include "cli/replay_job.h"

#include <filesystem>
#include <sstream>

#include "analysis/run_files.h"
#include "cli/emulated_world.h"
#include "cli/run_outputs.h"

namespace longhaul {

Job replay_job(const Case& config, const Trace& trace, const std::string& folder, bool emulates) {
  std::filesystem::create_directories(folder);
  write_file(folder + "/case.json", config.resolved.dump(2) + "\n");
  std::ostringstream text;
  write_trace(trace, text);
  write_file(folder + "/trace.jsonl", text.str());
  Job job{config.name, folder, {}, 1};
  // The analytic fidelity has no ns-3 in it: longhaul walks it itself.
  if (emulates)
    job.arguments = in_world(config, folder, {sibling_executable("longhaul"), "emulated"});
  else if (config.network.fidelity == "analytic")
    job.arguments = {sibling_executable("longhaul"), "analytic"};
  else
    job.arguments = {sibling_executable("longhaul-sim")};
  job.arguments.insert(job.arguments.end(), {"--case", folder + "/case.json", "--trace",
                                             folder + "/trace.jsonl", "--out", folder});
  return job;
}

}  // namespace longhaul
