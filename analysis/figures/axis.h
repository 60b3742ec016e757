// Axes: units that fit, and a logarithm where values span decades.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/options.h"

namespace longhaul {

// A swept value as a number: 8, "500ms", "1Gbps", "10MB". `unit` is "", "s", "bit/s" or "B".
struct AxisValue {
  double number = 0;
  std::string unit;
};

std::optional<AxisValue> axis_value(const Json& value);

// The unit that an axis of `values` is written in.
struct AxisScale {
  double divisor = 1;
  std::string unit;  // "ms", "Gbit/s", ""
};

// For values in `unit` ("s", "bit/s", "B", anything else stays as it is) with this largest one.
AxisScale axis_scale(const std::string& unit, double largest);

// Whether all are positive and the largest is at least twenty times the smallest.
bool spans_decades(const std::vector<double>& values);

// Whether ascending positive values, three at least, are spaced more evenly by ratio than by difference: 4,
// 8, 16.
bool is_geometric(const std::vector<double>& values);

// "sync_time_s.mean" as "sync time, mean": the unit stands beside it and is not always seconds.
std::string axis_words(const std::string& path);

// "simulated time (min)"
std::string axis_title(const std::string& what, const std::string& unit);

}  // namespace longhaul
