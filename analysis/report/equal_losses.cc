// The tables of losses after the same time and after the same bytes, of the cases at one point of a sweep.
#include <fmt/core.h>

#include <algorithm>

#include "analysis/comparison/equal_budget.h"
#include "analysis/record_values.h"
#include "analysis/report/parts.h"
#include "analysis/table.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

std::vector<GroupSample> groups_of(const RunDirectory& run, const std::vector<Json>& records) {
  std::vector<GroupSample> groups;
  for (const Json& record : records) {
    if (record.value("status", "") != "done") continue;
    const std::string name = method_variant(record);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const GroupSample& known) { return known.name == name; });
    if (group == groups.end())
      group = groups.insert(groups.end(),
                            GroupSample{name, record.value("label", record.value("method", "")), {}, {}});
    group->cases.push_back({&run, &record});
  }
  return groups;
}

std::string budget_words(Budget kind, double budget) {
  return kind == Budget::kSeconds ? human_duration(budget) : human_bytes(budget);
}

// "2.150 ± 0.011", or "2.150 (1 of 3 seeds)"; "–" of what was never within the budget.
std::string cell_words(const std::optional<EqualBudgetTable::Cell>& cell, std::size_t seeds) {
  if (!cell) return "–";
  const std::string mean = fmt::format("{:.3f}", cell->mean);
  if (cell->seeds < seeds) return fmt::format("{} ({} of {} seeds)", mean, cell->seeds, seeds);
  const double half = (cell->interval.high - cell->interval.low) / 2;
  return half > 0 ? fmt::format("{} ± {:.3f}", mean, half) : mean;
}

}  // namespace

Json equal_losses(const RunDirectory& run, const std::vector<Json>& records) {
  const std::vector<GroupSample> groups = groups_of(run, records);
  if (groups.size() < 2) return Json::array();
  const RowCurves curves(groups);
  Json tables = Json::array();
  for (const Budget kind : {Budget::kSeconds, Budget::kBytes}) {
    const auto table = equal_budget_table(curves, kind);
    if (!table) continue;
    Json columns = Json::array(), rows = Json::array();
    for (const double budget : table->budgets) columns.push_back(budget_words(kind, budget));
    for (std::size_t group = 0; group < groups.size(); ++group) {
      Json cells = Json::array();
      for (const auto& cell : table->rows[group])
        cells.push_back(cell_words(cell, groups[group].cases.size()));
      rows.push_back({{"name", groups[group].name}, {"label", groups[group].label}, {"cells", cells}});
    }
    tables.push_back({{"kind", kind == Budget::kSeconds ? "time" : "bytes"},
                      {"first", table->horizon.first},
                      {"columns", columns},
                      {"rows", rows}});
  }
  return tables;
}

}  // namespace longhaul
