#include "cli/replay_job.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "analysis/run_files.h"
#include "cli/commands.h"
#include "cli/job_pool.h"
#include "cli/run_outputs.h"
#include "core/base/csv.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "methods/common/registry.h"
#include "replay/replay.h"

namespace longhaul {
namespace {

// What a training's file lacks would be a step of 0 s, or numbers of 0 bits. [step − 1][replica]
template <typename Row, typename IsAHole>
void check_whole(const std::string& file, const std::vector<std::vector<Row>>& rows,
                 const IsAHole& is_a_hole) {
  for (std::size_t step = 0; step < rows.size(); ++step)
    if (const auto hole = std::find_if(rows[step].begin(), rows[step].end(), is_a_hole);
        hole != rows[step].end())
      throw DamagedFile(fmt::format("{}: lacks a row of step {} and replica {}", file, step + 1,
                                    hole - rows[step].begin()));
}

std::vector<std::vector<double>> measured_times(const RunLayout& layout, const Case& config) {
  const std::string file = layout.training_folder(config) + "/step_times.csv";
  CsvStream rows(file, {"step", "replica", "compute_s"});
  const int replicas = training_replicas(plan_of(config), config.replicas);
  constexpr double kNone = -1;
  std::vector<std::vector<double>> times(as_index(config.steps()),
                                         std::vector<double>(as_index(replicas), kNone));
  while (rows.next())
    times[as_index(rows.integer(0, 1, config.steps()) - 1)][as_index(rows.integer(1, 0, replicas - 1))] =
        rows.number(2);
  check_whole(file, times, [](double seconds) { return seconds == kNone; });
  return times;
}

// [step − 1][replica][hop]
std::vector<std::vector<std::vector<int>>> learned_bits(const RunLayout& layout, const Case& config,
                                                        const PipelinePlan& pipeline) {
  const std::string file = layout.training_folder(config) + "/boundary_bits.csv";
  CsvStream rows(file, {"step", "replica", "hop", "bits"});
  const int hops = pipeline.hop_count();
  const std::vector<std::vector<int>> none(as_index(config.replicas), std::vector<int>(as_index(hops)));
  std::vector<std::vector<std::vector<int>>> bits(as_index(config.steps()), none);
  while (rows.next())
    bits[as_index(rows.integer(0, 1, config.steps()) - 1)][as_index(rows.integer(1, 0, config.replicas - 1))]
        [as_index(rows.integer(2, 0, hops - 1))] =
            static_cast<int>(rows.integer(3, pipeline.by_bits->fewest, pipeline.by_bits->most()));
  check_whole(file, bits,
              [](const auto& of_hops) { return std::count(of_hops.begin(), of_hops.end(), 0) > 0; });
  return bits;
}

}  // namespace

Trace full_trace(const RunLayout& layout, const Case& config) {
  Trace trace = trace_of(config);
  if (config.workload.step_time.kind == StepTime::Kind::kMeasured)
    trace.measured_s = measured_times(layout, config);
  if (trace.plan.pipeline.by_bits) trace.bits = learned_bits(layout, config, trace.plan.pipeline);
  return trace;
}

Job replay_job(const Case& config, const Trace& trace, const std::string& folder, bool emulates,
               int threads) {
  std::filesystem::create_directories(folder);
  write_file(folder + "/case.json", config.resolved.dump(2) + "\n");
  std::ostringstream text;
  write_trace(trace, text);
  write_file(folder + "/trace.jsonl", text.str());
  Job job{config.name, folder, {}, 1};
  // What has no ns-3 in it longhaul replays itself.
  if (emulates)
    job.arguments = in_world(config, folder, {"--once", sibling_executable("longhaul"), "emulated"});
  else if (!needs_simulator(config.network.fidelity))
    job.arguments = {sibling_executable("longhaul"), config.network.fidelity};
  else
    job.arguments = {sibling_executable("longhaul-sim")};
  job.arguments.insert(job.arguments.end(), {"--case", folder + "/case.json", "--trace",
                                             folder + "/trace.jsonl", "--out", folder});
  if (config.network.fidelity == "linux" && !emulates && threads > 1)
    job.arguments.insert(job.arguments.end(), {"--threads", std::to_string(threads)});
  return job;
}

}  // namespace longhaul
