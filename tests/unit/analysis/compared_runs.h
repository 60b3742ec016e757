// Run directories in memory for tests of comparisons: records as summary.json has them, without files.
#pragma once

#include <string>
#include <vector>

#include "analysis/comparison/comparison.h"
#include "analysis/record_values.h"
#include "analysis/runs/run_directory.h"

namespace longhaul {

inline Json compared_record(const std::string& label, int seed, const Json& swept, const Json& numbers) {
  static const Json done = Json::parse(
      R"({"status": "done", "parameters": {}, "replicas": 8, "fidelity": "flow", "queue": "host"})");
  Json record = {{"case", label + swept.dump() + std::to_string(seed)}, {"seed", seed}, {"swept", swept}};
  record["method"] = record["label"] = label;
  record.update(done);
  for (const auto& [key, value] : swept.items()) {
    const std::string prefix = "methods." + label + ".";
    if (key.rfind(prefix, 0) == 0) record["parameters"][key.substr(prefix.size())] = value;
  }
  record.update(numbers);
  return record;
}

inline Json compared_record(const std::string& label, int seed, const Json& numbers) {  // nothing is swept
  return compared_record(label, seed, Json::object(), numbers);
}

inline RunDirectory run_of(std::vector<Json> records, const std::string& folder = "nowhere/run") {
  return {folder, {{"format", 1}, {"scenario", "s"}}, Json::object(), nullptr, std::move(records)};
}

// One record a seed, seeds from 1, with these values of a metric.
inline void add_values(std::vector<Json>& records, const std::string& label, const std::string& metric,
                       const std::vector<Json>& values, const Json& swept,
                       const Json& more = Json::object()) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    records.push_back(compared_record(label, static_cast<int>(i) + 1, swept, more));
    put_at(records.back(), metric, values[i]);
  }
}

inline void add_losses(std::vector<Json>& records, const std::string& label,
                       const std::vector<double>& losses, const Json& swept = Json::object()) {
  add_values(records, label, "final_loss", std::vector<Json>(losses.begin(), losses.end()), swept);
}

// Of each label.
inline std::vector<Json> values_of(const std::string& metric,
                                   const std::vector<std::pair<std::string, std::vector<Json>>>& methods,
                                   const Json& more = Json::object()) {
  std::vector<Json> records;
  for (const auto& [label, values] : methods)
    add_values(records, label, metric, values, Json::object(), more);
  return records;
}

inline std::vector<Json> losses_of(const std::vector<std::pair<std::string, std::vector<double>>>& methods,
                                   const Json& swept = Json::object()) {
  std::vector<Json> records;
  for (const auto& [label, losses] : methods) add_losses(records, label, losses, swept);
  return records;
}

// The comparison of the first two groups of the first row.
inline Comparison first_of(const ComparisonTable& table) {
  return table.metrics.at(0).rows.at(0).comparisons.at(0);
}

}  // namespace longhaul
