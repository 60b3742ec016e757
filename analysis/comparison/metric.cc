#include "analysis/comparison/metric.h"

#include <fmt/core.h>

#include <cmath>

#include "analysis/record_values.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/ranges.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

void add_numbers(const Json& value, const std::string& path, std::vector<std::string>& paths) {
  if (value.is_number()) add_new(path, paths);
  if (value.is_object())
    for (const auto& [key, child] : value.items()) add_numbers(child, path + "." + key, paths);
}

// Of the metrics declared to be compared.
std::vector<Metric> default_metrics(const std::vector<Json>& records) {
  std::vector<Metric> taken;
  for (const Metric& metric : metrics()) {
    const std::string& needed = metric.target.empty() ? metric.path : metric.target;
    if (metric.compared &&
        any_of(records, [&](const Json& record) { return value_at(record, needed).has_value(); }))
      taken.push_back(metric);
  }
  return taken;
}

// As people write durations, with a digit more than human_duration() has.
std::string precise_duration(double seconds) {
  if (seconds < kLeastSeconds) return "0 s";
  if (seconds < 1e-3) return fmt::format("{:.4g} us", 1e6 * seconds);
  if (seconds < 1) return fmt::format("{:.4g} ms", 1e3 * seconds);
  if (seconds < 99.995) return fmt::format("{:.4g} s", seconds);
  const long long tenths = std::llround(10 * seconds), whole = std::llround(seconds);
  if (tenths < 36000) return fmt::format("{} min {}.{} s", tenths / 600, tenths % 600 / 10, tenths % 10);
  if (whole < 36000) return fmt::format("{} h {} min {} s", whole / 3600, whole / 60 % 60, whole % 60);
  const long long minutes = std::llround(seconds / 60);
  if (whole < 2 * 86400) return fmt::format("{} h {} min", minutes / 60, minutes % 60);
  return fmt::format("{:.2f} d", seconds / 86400);
}

constexpr std::size_t kMostNames = 12;

// "did you mean "final_loss" or "best_loss"?": those that a part of them names, or the one that a slip is
// near.
std::string guess(const std::string& path, const std::vector<std::string>& known) {
  std::vector<std::string> near;
  for (const std::string& text : known)
    if (text.find(path) != std::string::npos && near.size() < 3) near.push_back('"' + text + '"');
  if (!near.empty()) return "; did you mean " + enumeration(near, "or") + "?";
  const std::string slip = did_you_mean(path, known);
  return slip.empty() ? "" : "; " + slip;
}

// Every path of a record that holds a number, "sync_time_s.p95", less its seed and swept values.
std::vector<std::string> number_paths(const std::vector<Json>& records) {
  std::vector<std::string> paths;
  for (const Json& record : records) {
    const Json swept = record.value("swept", Json::object());
    for (const auto& [key, value] : record.items())
      if (key != "seed" && key != "swept" && key != "parameters" && !swept.contains(key))
        add_numbers(value, key, paths);
    for (const Metric& metric : metrics())
      if (!metric.target.empty() && record.contains(metric.target)) add_new(metric.path, paths);
  }
  return paths;
}

}  // namespace

std::vector<Metric> chosen_metrics(const std::vector<std::string>& paths, const std::vector<Json>& records) {
  if (paths.empty()) return default_metrics(records);
  const std::vector<std::string> known = number_paths(records);
  std::vector<Metric> chosen;
  for (const std::string& path : paths) {
    if (!contains(known, path))
      throw InputError("--metric", "no case has a number \"" + path + "\"" + guess(path, known),
                       join_some(known, kMostNames),
                       "every number of a case in summary.json has its path as its name");
    if (none_of(chosen, [&](const Metric& metric) { return metric.path == path; }))
      chosen.push_back(metric_named(path));
  }
  return chosen;
}

std::string value_text(const Metric& metric, double value) {
  switch (metric.unit) {
    case Metric::Unit::kNats:
      return fmt::format("{:.4f}", value);
    case Metric::Unit::kSeconds:
      return value < 0 ? "-" + precise_duration(-value) : precise_duration(value);
    case Metric::Unit::kFraction:
      return fmt::format("{:.2f} %", 100 * value);
    case Metric::Unit::kBytes:
      return value < 0 ? "-" + human_bytes(-value) : human_bytes(value);
    case Metric::Unit::kCount:
    case Metric::Unit::kNone:
      break;
  }
  return fmt::format("{:.5g}", value);
}

std::string value_text(const Metric& metric, double value, double like) {
  const double size = std::abs(like);
  if (metric.unit != Metric::Unit::kSeconds || size < kLeastSeconds || std::abs(value) >= 99.995 ||
      size >= 99.995)
    return value_text(metric, value);
  if (size < 1e-3) return fmt::format("{:.4g} us", 1e6 * value);
  return size < 1 ? fmt::format("{:.4g} ms", 1e3 * value) : fmt::format("{:.4g} s", value);
}

std::string difference_text(const Metric& metric, double value) {
  const std::string sign = value > 0 ? "+" : "";
  if (metric.unit == Metric::Unit::kFraction) return fmt::format("{}{:.2f} points", sign, 100 * value);
  return sign + value_text(metric, value);
}

}  // namespace longhaul
