// A suite of cases without training, small enough for a test, and its runs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/integration/command.h"

namespace longhaul {

constexpr int kSuiteCases = 24;

// Writes the scenario into `folder`; returns its file.
inline std::string write_suite(const std::string& folder) {
  write_text(folder + "/suite.json", R"({
    "name": "suite", "seeds": [1, 2], "replicas": 4,
    "methods": [{"name": "diloco", "inner_steps": 4}, {"name": "noloco", "inner_steps": 4}],
    "workload": {"parameters": 200000, "wire": "bf16", "steps": 12,
                 "step_time": {"lognormal": {"mean": "1s", "sigma": 0.3}}},
    "network": {"fidelity": "flow", "topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}},
    "sweep": {"replicas": [4, 8, 32], "network.tcp.connections": [1, 4]},
    "claims": [
      {"id": "everywhere", "ratio": "sync_time_s.mean", "of": "diloco", "to": "noloco", "at_least": 2},
      {"id": "somewhere", "ratio": "sync_time_s.mean", "of": "diloco", "to": "noloco", "at_least": 2,
       "quantifier": "each"}]})");
  return folder + "/suite.json";
}

// Runs it with two jobs; `more` are further arguments. Returns the exit status.
inline int run_suite(const std::string& scenario, const std::string& run,
                     const std::vector<std::string>& more = {}) {
  return longhaul({"run", scenario, "--out", run, "--jobs", "2", "--quiet"}, more).status;
}

// So many of its cases are done.
inline int cases_done(const std::string& run) {
  int done = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(run + "/cases", ignored))
    done += std::filesystem::exists(entry.path() / "done");
  return done;
}

}  // namespace longhaul
