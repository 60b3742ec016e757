// The metrics of a comparison: which are taken, which can be asked for, and how their values are written.
#pragma once

#include <string>
#include <vector>

#include "core/metrics.h"
#include "core/options.h"

namespace longhaul {

// What is compared unless the user says: of the metrics declared so those that a record has, or may reach.
std::vector<Metric> default_metrics(const std::vector<Json>& records);

// Every path of a record that holds a number, "sync_time_s.p95", less its seed and swept values.
std::vector<std::string> number_paths(const std::vector<Json>& records);

// With enough digits to see a small difference: "2.4425", "20.26 s", "56.29 %", "10.8 GB".
std::string value_text(const Metric& metric, double value);
// The same with its sign; of a fraction in percentage points.
std::string difference_text(const Metric& metric, double value);

}  // namespace longhaul
