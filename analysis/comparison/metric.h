// A number of the case records that methods are compared by: how it is written, and which way is better.
#pragma once

#include <string>
#include <vector>

#include "core/options.h"

namespace longhaul {

struct Metric {
  enum class Unit { kNats, kSeconds, kFraction, kBytes, kNone };

  std::string path;     // in a record, "sync_time_s.mean"
  std::string meaning;  // "" where nothing declares one
  Unit unit = Unit::kNone;
  bool lower_is_better = false;  // otherwise neither way is better
};

// Any number of a record; what is not declared (analysis/columns.h) has a unit by its name.
Metric metric_named(const std::string& path);

// What is compared unless the user says: of final_loss, time_to_target_s, sync_time_s.mean, wait_s.mean,
// idle_fraction.mean and simulated_time_s those that a record has.
std::vector<Metric> default_metrics(const std::vector<Json>& records);

// Every path of a record that holds a number, "sync_time_s.p95", less its seed and swept values.
std::vector<std::string> number_paths(const std::vector<Json>& records);

// With enough digits to see a small difference: "2.4425", "20.26 s", "56.29 %", "10.8 GB".
std::string value_text(const Metric& metric, double value);
// The same with its sign; of a fraction in percentage points.
std::string difference_text(const Metric& metric, double value);

}  // namespace longhaul
