#include "analysis/columns.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>
#include <map>

#include "analysis/sweep_point.h"
#include "core/units.h"

namespace longhaul {
namespace {

struct Competition {
  int competitors = 0;
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
};

std::string printed(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::optional<double> competing_value(const Json& record, const Metric& metric) {
  if (!metric.lower_is_better || record.value("status", "") != "done") return std::nullopt;
  if (metric.of_exchanges && record.value("exchanges", 0) == 0) return std::nullopt;
  return value_at(record, metric.path);
}

std::string competition_of(const Json& record) {
  return sweep_point(record) + ", seed " + record.value("seed", Json()).dump();
}

}  // namespace

const std::vector<Metric>& columns() {
  static const std::vector<Metric> all = [] {
    std::vector<Metric> shown;
    std::copy_if(metrics().begin(), metrics().end(), std::back_inserter(shown),
                 [](const Metric& metric) { return metric.importance > 0; });
    return shown;
  }();
  return all;
}

std::optional<double> value_at(const Json& record, const std::string& path) {
  const Json* value = &record;
  std::size_t start = 0;
  while (start <= path.size()) {
    const std::size_t dot = std::min(path.find('.', start), path.size());
    const auto member = value->is_object() ? value->find(path.substr(start, dot - start)) : value->end();
    if (!value->is_object() || member == value->end()) return std::nullopt;
    value = &*member;
    start = dot + 1;
  }
  if (!value->is_number()) return std::nullopt;
  return value->get<double>();
}

std::string formatted(const Metric& metric, const std::optional<double>& value) {
  if (!value) return "";
  switch (metric.unit) {
    case Metric::Unit::kNats:
      return printed("%.3f", *value);
    case Metric::Unit::kNone:
      return *value == 0 ? "0" : printed("%.2e", *value);
    case Metric::Unit::kSeconds:
      return *value == 0 ? "0 s" : human_duration(*value);
    case Metric::Unit::kFraction:
      return printed("%.1f %%", 100 * *value);
    case Metric::Unit::kBytes:
      return human_bytes(*value);
    case Metric::Unit::kCount:
      return printed("%.0f", *value);
  }
  return "";
}

std::vector<bool> best_values(const std::vector<Json>& records, const Metric& metric) {
  std::map<std::string, Competition> competitions;
  for (const Json& record : records) {
    const std::optional<double> value = competing_value(record, metric);
    if (!value) continue;
    Competition& competition = competitions[competition_of(record)];
    ++competition.competitors;
    competition.lowest = std::min(competition.lowest, *value);
    competition.highest = std::max(competition.highest, *value);
  }
  std::vector<bool> best;
  for (const Json& record : records) {
    const std::optional<double> value = competing_value(record, metric);
    const Competition competition = value ? competitions[competition_of(record)] : Competition();
    // What looks the same is not better: a difference below the digits that are shown marks nobody.
    best.push_back(competition.competitors >= 2 && *value == competition.lowest &&
                   formatted(metric, competition.lowest) != formatted(metric, competition.highest));
  }
  return best;
}

}  // namespace longhaul
