#include "analysis/report/point_tables.h"

#include <fmt/core.h>

#include "analysis/comparison/comparison.h"
#include "analysis/comparison/equal_budget.h"
#include "analysis/record_values.h"
#include "analysis/seed_rows.h"
#include "analysis/statistics.h"
#include "analysis/table.h"
#include "core/base/ranges.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

std::vector<GroupSample> groups_of(const RunDirectory& run, const std::vector<Json>& records) {
  std::vector<GroupSample> groups;
  for (const SeedRow& row : seed_rows(records)) {
    if (row.done.empty()) continue;
    const Json& first = *row.done[0];
    groups.push_back({row.variant, first.value("label", first.value("method", "")), {}, {}});
    for (const Json* record : row.done) groups.back().cases.push_back({&run, record});
  }
  return groups;
}

// "2.150 ± 0.011", or "2.150 (1 of 3 seeds)"; "–" of what was never within the budget.
std::string cell_words(const std::vector<SeedValue>& losses, std::size_t seeds) {
  if (losses.empty()) return "–";
  const std::vector<double> values = each_of(losses, &SeedValue::value);
  if (values.size() < seeds)
    return fmt::format("{:.3f} ({} of {} seeds)", mean(values), values.size(), seeds);
  return with_half_width(metric_named("final_loss"), mean(values), half_width(values));
}

}  // namespace

Json seed_means(const std::vector<Json>& records, const std::vector<std::size_t>& indices) {
  const std::vector<SeedRow> rows = seed_rows(records);
  Json json = Json::array();
  std::vector<Json> means;
  for (const SeedRow& row : rows) {
    Json cases = Json::array();
    for (const std::size_t i : row.indices) cases.push_back(indices[i]);
    means.push_back(means_record(row));
    json.push_back({{"cases", cases}, {"seeds", row.done.size()}});
  }
  const bool several = any_of(rows, [](const SeedRow& row) { return row.done.size() > 1; });
  if (!several) return json;
  for (const Metric& metric : columns()) {
    const std::vector<bool> best = best_values(means, metric);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::vector<double> values = values_at(rows[i].done, metric.path);
      const bool all = !values.empty() && values.size() == rows[i].done.size();
      json[i]["texts"].push_back(mean_cell(rows[i], metric));
      json[i]["values"].push_back(all ? Json(six_digits(mean(values))) : Json(nullptr));
      json[i]["best"].push_back(best[i] ? 1 : 0);
    }
  }
  return json;
}

Json equal_losses(const RunDirectory& run, const std::vector<Json>& records) {
  const std::vector<GroupSample> groups = groups_of(run, records);
  if (groups.size() < 2) return Json::array();
  const RowCurves curves(groups);
  Json tables = Json::array();
  for (const Budget kind : {Budget::kSeconds, Budget::kBytes}) {
    const std::optional<Horizon> horizon = curves.horizon(kind);
    if (!horizon) continue;
    Json columns = Json::array(), rows = Json::array();
    for (std::size_t group = 0; group < groups.size(); ++group)
      rows.push_back(
          {{"name", groups[group].name}, {"label", groups[group].label}, {"cells", Json::array()}});
    for (const double share : {0.25, 0.5, 1.}) {
      const double budget = share * horizon->budget;
      columns.push_back(kind == Budget::kSeconds ? human_duration(budget) : human_bytes(budget));
      for (std::size_t group = 0; group < groups.size(); ++group)
        rows[group]["cells"].push_back(
            cell_words(curves.losses(group, kind, share), groups[group].cases.size()));
    }
    tables.push_back({{"kind", kind == Budget::kSeconds ? "time" : "bytes"},
                      {"first", horizon->first},
                      {"columns", columns},
                      {"rows", rows}});
  }
  return tables;
}

}  // namespace longhaul
