#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analysis/record_values.h"
#include "analysis/report/parts.h"
#include "analysis/statistics.h"
#include "analysis/table.h"

namespace longhaul {
namespace {

struct SeedRow {
  std::string variant;
  std::vector<std::size_t> indices;
  std::vector<const Json*> done;
  Json means;  // a record that holds the means, to compete for the best
};

std::vector<SeedRow> rows_of(const std::vector<Json>& records, const std::vector<std::size_t>& indices) {
  std::vector<SeedRow> rows;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string variant = method_variant(records[i]);
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const SeedRow& known) { return known.variant == variant; });
    if (row == rows.end()) row = rows.insert(rows.end(), SeedRow{variant, {}, {}, Json()});
    row->indices.push_back(indices[i]);
    if (records[i].value("status", "") == "done") row->done.push_back(&records[i]);
  }
  return rows;
}

void put(Json& record, const std::string& path, double value) {
  const std::size_t dot = path.find('.');
  if (dot == std::string::npos)
    record[path] = value;
  else
    record[path.substr(0, dot)][path.substr(dot + 1)] = value;
}

Json means_record(const SeedRow& row) {
  Json record = {{"status", row.done.empty() ? "interrupted" : "done"}, {"seed", 0}};
  if (!row.done.empty()) record["exchanges"] = row.done[0]->value("exchanges", Json(0));
  for (const Metric& metric : columns()) {
    const std::vector<double> values = values_at(row.done, metric.path);
    if (!values.empty() && values.size() == row.done.size()) put(record, metric.path, mean(values));
  }
  return record;
}

// Of the 95 % t interval. Seeds that draw nothing for this number differ by rounding alone.
double half_width(const std::vector<double>& values) {
  const Interval interval = t_interval(values, 0.95);
  const double half = (interval.high - interval.low) / 2;
  return half > 1e-9 * std::abs(mean(values)) ? half : 0;
}

void add_cell(const SeedRow& row, const Metric& metric, bool best, Json& json) {
  const std::vector<double> values = values_at(row.done, metric.path);
  const bool all = !values.empty() && values.size() == row.done.size();
  std::string text;
  if (!values.empty()) text = formatted(metric, mean(values));
  Json half = nullptr;
  if (all && values.size() > 1) {
    const double width = half_width(values);
    half = six_digits(width);
    if (width > 0) text += " ± " + formatted(metric, width);
  } else if (!values.empty() && !all) {
    text += fmt::format(" ({} of {} seeds)", values.size(), row.done.size());
  }
  json["texts"].push_back(text);
  json["values"].push_back(all ? Json(six_digits(mean(values))) : Json(nullptr));
  json["half"].push_back(half);
  json["best"].push_back(best ? 1 : 0);
}

}  // namespace

Json seed_means(const std::vector<Json>& records, const std::vector<std::size_t>& indices) {
  std::vector<SeedRow> rows = rows_of(records, indices);
  Json json = Json::array();
  std::vector<Json> means;
  for (SeedRow& row : rows) {
    means.push_back(means_record(row));
    json.push_back({{"cases", row.indices}, {"seeds", row.done.size()}});
  }
  const bool several =
      std::any_of(rows.begin(), rows.end(), [](const SeedRow& row) { return row.done.size() > 1; });
  if (!several) return json;
  for (const Metric& metric : columns()) {
    const std::vector<bool> best = best_values(means, metric);
    for (std::size_t i = 0; i < rows.size(); ++i) add_cell(rows[i], metric, best[i], json[i]);
  }
  return json;
}

}  // namespace longhaul
