#include "analysis/seed_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/record_values.h"
#include "analysis/statistics.h"
#include "analysis/table.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

struct Unit {
  double size = 1;
  const char* sign = "";
};

// That in which people write a number of this size.
Unit unit_of(const Metric& metric, double mean) {
  const double size = std::abs(mean);
  const auto first_below = [&](std::initializer_list<Unit> units) {
    for (const Unit& unit : units)
      if (size >= unit.size) return unit;
    return *(units.end() - 1);
  };
  switch (metric.unit) {
    case Metric::Unit::kSeconds:
      if (size >= 2 * 86400) return {86400, " d"};
      return first_below({{1, " s"}, {1e-3, " ms"}, {1e-6, " us"}});
    case Metric::Unit::kBytes:
      return first_below({{1e12, " TB"}, {1e9, " GB"}, {1e6, " MB"}, {1e3, " kB"}, {1, " B"}});
    case Metric::Unit::kFraction:
      return {0.01, " %"};
    default:
      return {1, ""};
  }
}

// So that the mean has three significant digits.
int decimals_of(const Metric& metric, double scaled) {
  if (metric.unit == Metric::Unit::kNats) return 3;
  if (metric.unit == Metric::Unit::kFraction) return 1;
  const double size = std::abs(scaled);
  return size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 4;
}

// Of a time that people write in two units, "1 h 22 min ± 2 min": the half width to its last digit, in one
// unit. "" where that is 0.
std::string half_of_long_time(double mean, double half) {
  const double digit = mean < 3600 ? 1 : 60, shown = digit * std::round(half / digit);
  if (shown == 0) return "";
  if (shown >= 7200) return fmt::format("{:.2g} h", shown / 3600);
  if (shown >= 100 || digit == 60) return fmt::format("{:.2g} min", shown / 60);
  return fmt::format("{:.0f} s", shown);
}

}  // namespace

std::vector<SeedRow> seed_rows(const std::vector<Json>& records) {
  std::vector<SeedRow> rows;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string variant = method_variant(records[i]), point = sweep_point(records[i]);
    // Those of one row mostly stand together, or a point behind each other.
    auto row = std::find_if(rows.rbegin(), rows.rend(), [&](const SeedRow& known) {
      return known.variant == variant && known.point == point;
    });
    if (row == rows.rend()) {
      rows.push_back({variant, point, {}, {}});
      row = rows.rbegin();
    }
    row->indices.push_back(i);
    if (records[i].value("status", "") == "done") row->done.push_back(&records[i]);
  }
  return rows;
}

Json means_record(const SeedRow& row) {
  Json record = {{"status", row.done.empty() ? "interrupted" : "done"}, {"seed", 0}};
  if (!row.done.empty()) {
    record["exchanges"] = row.done[0]->value("exchanges", Json(0));
    record["swept"] = row.done[0]->value("swept", Json::object());
  }
  for (const Metric& metric : columns()) {
    const std::vector<double> values = values_at(row.done, metric.path);
    if (!values.empty() && values.size() == row.done.size()) put_at(record, metric.path, mean(values));
  }
  return record;
}

double half_width(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const Interval interval = t_interval(values, 0.95);
  const double half = (interval.high - interval.low) / 2;
  return half > 1e-9 * std::abs(mean(values)) ? half : 0;
}

std::string with_half_width(const Metric& metric, double mean, double half) {
  if (metric.unit == Metric::Unit::kSeconds && mean >= 100 && mean < 2 * 86400) {
    const std::string shown = half_of_long_time(mean, half);
    return formatted(metric, mean) + (shown.empty() ? "" : " ± " + shown);
  }
  const Unit unit = unit_of(metric, mean);
  const int decimals = decimals_of(metric, mean / unit.size);
  const bool is_seen = half / unit.size >= 0.5 * std::pow(10., -decimals);
  if (!is_seen || metric.unit == Metric::Unit::kCount) return formatted(metric, mean);
  return fmt::format("{:.{}f} ± {:.{}f}{}", mean / unit.size, decimals, half / unit.size, decimals,
                     unit.sign);
}

std::string mean_cell(const SeedRow& row, const Metric& metric) {
  const std::vector<double> values = values_at(row.done, metric.path);
  if (values.empty()) return row.done.empty() ? "" : cell_text(metric, *row.done[0]);
  if (values.size() == row.done.size()) return with_half_width(metric, mean(values), half_width(values));
  return fmt::format("{} ({} of {} seeds)", formatted(metric, mean(values)), values.size(), row.done.size());
}

}  // namespace longhaul
