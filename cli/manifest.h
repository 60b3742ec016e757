// manifest.json: everything needed to know what ran, and the only place (besides logs) for wall times, dates
// and host names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/run_outputs.h"
#include "cli/work_plan.h"
#include "core/scenario.h"

namespace longhaul {

class Manifest {
 public:
  Manifest(const Scenario& scenario, std::vector<std::string> command);

  void set_option(const std::string& key, Json value);
  void add_wall_time(const std::string& kind, const std::string& name,
                     double seconds);  // kind: trainings, replays
  // Reads what the trainer says of each training (train/KEY/training.json): corpus hash, BLAS, parameters.
  void write(const RunLayout& layout, const WorkPlan& plan, const std::string& status);

 private:
  Json json_;
  double start_;
};

std::string utc_now();  // "2026-01-31T12:00:00Z"

}  // namespace longhaul
