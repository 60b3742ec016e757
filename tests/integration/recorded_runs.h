// Runs of scenarios in a folder of the test's own, and what they left of each method, by its label.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "tests/integration/command.h"

namespace longhaul {

class RecordedRuns : public testing::Test {
 protected:
  explicit RecordedRuns(const std::string& name) : folder_(fresh_folder(name)) {}

  // Into FOLDER/out, which it returns.
  std::string run_scenario(const std::string& out, const Json& scenario, int jobs = 1) {
    const std::string file = folder_ + "/" + out + ".json", folder = folder_ + "/" + out;
    write_text(file, scenario.dump());
    return run_of(file, {"--jobs", std::to_string(jobs)}, folder);
  }
  static Json record(const std::string& run, const std::string& label) {
    const Json summary = summary_of(run);
    for (const Json& entry : summary["cases"])
      if (entry["label"] == label) return entry;
    throw std::runtime_error("no case " + label);
  }
  static std::string training(const std::string& run, const std::string& label) {
    return run + "/train/" + record(run, label)["training"].get<std::string>();
  }
  static std::string losses(const std::string& run, const std::string& label) {
    return read_text(training(run, label) + "/metrics.csv");
  }
  // Its first line is a header.
  static std::vector<Json> schedule(const std::string& run, const std::string& label) {
    return json_lines(case_folder(run, label) + "/schedule.jsonl");
  }
  static std::string case_folder(const std::string& run, const std::string& label) {
    return run + "/cases/" + record(run, label)["case"].get<std::string>();
  }

  const std::string folder_;
};

}  // namespace longhaul
