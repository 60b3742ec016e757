#include "analysis/comparison/metric.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analysis/table.h"
#include "core/units.h"

namespace longhaul {
namespace {

void add_numbers(const Json& value, const std::string& path, std::vector<std::string>& paths) {
  if (value.is_number() && std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  if (value.is_object())
    for (const auto& [key, child] : value.items()) add_numbers(child, path + "." + key, paths);
}

std::string printed(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

std::vector<Metric> default_metrics(const std::vector<Json>& records) {
  std::vector<Metric> taken;
  for (const Metric& metric : metrics()) {
    const std::string& needed = metric.target.empty() ? metric.path : metric.target;
    if (metric.compared && std::any_of(records.begin(), records.end(), [&](const Json& record) {
          return value_at(record, needed).has_value();
        }))
      taken.push_back(metric);
  }
  return taken;
}

std::vector<std::string> number_paths(const std::vector<Json>& records) {
  std::vector<std::string> paths;
  for (const Json& record : records) {
    const Json swept = record.value("swept", Json::object());
    for (const auto& [key, value] : record.items())
      if (key != "seed" && key != "swept" && key != "parameters" && !swept.contains(key))
        add_numbers(value, key, paths);
    for (const Metric& metric : metrics())
      if (!metric.target.empty() && record.contains(metric.target) &&
          std::find(paths.begin(), paths.end(), metric.path) == paths.end())
        paths.push_back(metric.path);
  }
  return paths;
}

std::string value_text(const Metric& metric, double value) {
  switch (metric.unit) {
    case Metric::Unit::kNats:
      return printed("%.4f", value);
    case Metric::Unit::kSeconds:
      return printed("%.4g s", value);
    case Metric::Unit::kFraction:
      return printed("%.2f %%", 100 * value);
    case Metric::Unit::kBytes:
      return value < 0 ? "-" + human_bytes(-value) : human_bytes(value);
    case Metric::Unit::kCount:
    case Metric::Unit::kNone:
      break;
  }
  return printed("%.5g", value);
}

std::string difference_text(const Metric& metric, double value) {
  const std::string sign = value > 0 ? "+" : "";
  if (metric.unit == Metric::Unit::kFraction) return sign + printed("%.2f", 100 * value) + " points";
  return sign + value_text(metric, value);
}

}  // namespace longhaul
