#include "analysis/comparison/metric.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analysis/columns.h"
#include "core/units.h"

namespace longhaul {
namespace {

std::string root_of(const std::string& path) {
  return path.substr(0, path.find('.'));
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Metric::Unit unit_of(const std::string& path) {
  const std::string root = root_of(path);
  if (root.find("loss") != std::string::npos || root.find("entropy") != std::string::npos)
    return Metric::Unit::kNats;
  if (ends_with(root, "_s")) return Metric::Unit::kSeconds;
  if (ends_with(root, "_fraction")) return Metric::Unit::kFraction;
  return root.rfind("bytes_", 0) == 0 ? Metric::Unit::kBytes : Metric::Unit::kNone;
}

// What is better smaller, by the first part of its path.
bool lower_is_better(const std::string& path) {
  for (const char* key :
       {"final_loss", "final_loss_of_mean", "best_loss", "sync_time_s", "wait_s", "exposed_s",
        "exchange_time_s", "wait_time_s", "idle_fraction", "simulated_time_s", "time_to_target_s",
        "bytes_per_sync", "bytes_sent_per_replica", "bytes_per_token", "perplexity"})
    if (root_of(path) == key) return true;
  return false;
}

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

Metric metric_named(const std::string& path) {
  Metric metric{path, "", unit_of(path), lower_is_better(path)};
  for (const Column& column : columns())
    if (column.path == path) metric.meaning = column.meaning;
  if (path == "time_to_target_s")
    metric.meaning = "simulated time until the validation loss is at the target";
  return metric;
}

std::vector<Metric> default_metrics(const std::vector<Json>& records) {
  std::vector<Metric> metrics;
  for (const char* path : {"final_loss", "time_to_target_s", "sync_time_s.mean", "wait_s.mean",
                           "idle_fraction.mean", "simulated_time_s"}) {
    const std::string needed = std::string(path) == "time_to_target_s" ? "target_loss" : path;
    if (std::any_of(records.begin(), records.end(),
                    [&](const Json& record) { return value_at(record, needed).has_value(); }))
      metrics.push_back(metric_named(path));
  }
  return metrics;
}

std::vector<std::string> number_paths(const std::vector<Json>& records) {
  std::vector<std::string> paths;
  for (const Json& record : records) {
    const Json swept = record.value("swept", Json::object());
    for (const auto& [key, value] : record.items())
      if (key != "seed" && key != "swept" && key != "parameters" && !swept.contains(key))
        add_numbers(value, key, paths);
    if (record.contains("target_loss") &&
        std::find(paths.begin(), paths.end(), "time_to_target_s") == paths.end())
      paths.push_back("time_to_target_s");
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
