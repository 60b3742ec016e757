// The metrics of a comparison: which are compared, and their values in words.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/scenario/metrics.h"

namespace longhaul {

// Those of `paths`; without any those that are compared unless the user says, as far as a record has or may
// reach them. Throws InputError (--metric) for a path that no record has a number at.
std::vector<Metric> chosen_metrics(const std::vector<std::string>& paths, const std::vector<Json>& records);

// With enough digits to see a small difference: "2.4425", "20.26 s", "1 min 42.3 s", "56.29 %", "10.8 GB".
std::string value_text(const Metric& metric, double value);

// The same in the unit in which `like` is written, for an interval beside it: "[0.603 s, 2.037 s]".
std::string value_text(const Metric& metric, double value, double like);

// The same with its sign; of a fraction in percentage points.
std::string difference_text(const Metric& metric, double value);

}  // namespace longhaul
