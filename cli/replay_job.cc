#include "cli/replay_job.h"

#include <filesystem>
#include <sstream>

#include "analysis/run_files.h"
#include "cli/commands.h"
#include "core/base/csv.h"
#include "core/base/index.h"
#include "methods/common/registry.h"

namespace longhaul {
namespace {

std::vector<std::vector<double>> measured_times(const RunLayout& layout, const Case& config) {
  CsvStream rows(layout.training_folder(config) + "/step_times.csv", {"step", "replica", "compute_s"});
  const int replicas = training_replicas(plan_of(config), config.replicas);
  std::vector<std::vector<double>> times(as_index(config.steps()), std::vector<double>(as_index(replicas)));
  while (rows.next())
    times[as_index(rows.integer(0, 1, config.steps()) - 1)][as_index(rows.integer(1, 0, replicas - 1))] =
        rows.number(2);
  return times;
}

// [step − 1][replica][hop]
std::vector<std::vector<std::vector<int>>> learned_bits(const RunLayout& layout, const Case& config,
                                                        int hops) {
  CsvStream rows(layout.training_folder(config) + "/boundary_bits.csv", {"step", "replica", "hop", "bits"});
  std::vector<std::vector<std::vector<int>>> bits(
      as_index(config.steps()),
      std::vector<std::vector<int>>(as_index(config.replicas), std::vector<int>(as_index(hops))));
  while (rows.next())
    bits.at(as_index(rows.integer(0) - 1)).at(as_index(rows.integer(1))).at(as_index(rows.integer(2))) =
        static_cast<int>(rows.integer(3));
  return bits;
}

}  // namespace

Trace full_trace(const RunLayout& layout, const Case& config) {
  Trace trace = trace_of(config);
  if (config.workload.step_time.kind == StepTime::Kind::kMeasured)
    trace.measured_s = measured_times(layout, config);
  if (trace.plan.pipeline.by_bits) trace.bits = learned_bits(layout, config, trace.plan.pipeline.hop_count());
  return trace;
}

Job replay_job(const Case& config, const Trace& trace, const std::string& folder, bool emulates) {
  std::filesystem::create_directories(folder);
  write_file(folder + "/case.json", config.resolved.dump(2) + "\n");
  std::ostringstream text;
  write_trace(trace, text);
  write_file(folder + "/trace.jsonl", text.str());
  Job job{config.name, folder, {}, 1};
  // The analytic fidelity has no ns-3 in it: longhaul walks it itself.
  if (emulates)
    job.arguments = in_world(config, folder, {"--once", sibling_executable("longhaul"), "emulated"});
  else if (config.network.fidelity == "analytic")
    job.arguments = {sibling_executable("longhaul"), "analytic"};
  else
    job.arguments = {sibling_executable("longhaul-sim")};
  job.arguments.insert(job.arguments.end(), {"--case", folder + "/case.json", "--trace",
                                             folder + "/trace.jsonl", "--out", folder});
  return job;
}

}  // namespace longhaul
