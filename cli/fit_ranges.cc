#include "cli/fit_ranges.h"

#include <algorithm>
#include <cmath>

#include "analysis/case_record.h"
#include "analysis/record_values.h"
#include "analysis/run_files.h"
#include "checks/validated_scenario.h"
#include "cli/replay_job.h"
#include "cli/replayed_record.h"
#include "methods/common/registry.h"

namespace longhaul {

void FitRanges::read_axes() {
  is_read_ = true;
  const Json axes = member(member(scenario_.written, "fit"), "axes");
  const Json found = member(member(scenario_.written, "fit"), "found");
  if (!axes.is_array()) return;
  // What the user has set otherwise since is not the fit's any more.
  const auto is_as_found = [&](const std::string& path) {
    if (!found.is_object() || !found.contains(path)) return true;
    Json there = scenario_.written;
    assign_in_scenario(there, path, member(found[path], "value"), "fit.found");
    return there == scenario_.written;
  };
  const auto cases_at = [&](const Json& end) {
    Json written = scenario_.written;
    for (const auto& [path, value] : end.items())
      if (is_as_found(path)) assign_in_scenario(written, path, value, "fit.axes");
    Cases cases;
    for (const Case& config : validated_as_written(written, scenario_.file).cases)
      cases[config.name] = config;
    return cases;
  };
  for (const Json& pair : axes) axes_.emplace_back(cases_at(pair.at(0)), cases_at(pair.at(1)));
}

double FitRanges::error_of(const RunLayout& layout, const Case& config) {
  if (config.network.fidelity == "packet" || (config.train && times_decide(config))) return 1;
  const std::string folder = layout.case_folder(config);
  const Json itself = case_record(config, folder, "", "done", "");
  double largest = 0;
  std::map<std::string, double> squares;
  for (const auto& [minus, plus] : axes_) {
    Json ends[2];
    int i = 0;
    for (const Cases* cases : {&minus, &plus}) {
      const Case& there = cases->at(config.name);
      ends[i++] = replayed_record(there, full_trace(layout, there), folder + "/fit");
    }
    for (const char* metric : {"sync_time_s.mean", "simulated_time_s"}) {
      const std::optional<double> centre = value_at(itself, metric), low = value_at(ends[0], metric),
                                  high = value_at(ends[1], metric);
      if (!centre || !low || !high || !(*centre > 0)) continue;
      const double half = (*high - *low) / 2 / *centre;
      squares[metric] += half * half;
    }
  }
  for (const auto& [metric, sum] : squares) largest = std::max(largest, std::sqrt(sum));
  return std::min(1., largest);
}

void FitRanges::write(const RunLayout& layout, const Case& config) {
  if (!is_read_) read_axes();
  if (axes_.empty()) return;
  write_file(layout.case_folder(config) + kFitErrorFile,
             Json{{"fit_error", error_of(layout, config)}}.dump() + "\n");
}

}  // namespace longhaul
