#include "analysis/comparison/equal_budget.h"

#include <algorithm>

#include "analysis/statistics.h"

namespace longhaul {

RowCurves::RowCurves(const std::vector<GroupSample>& groups) {
  for (const GroupSample& group : groups) {
    Curves curves{group.name, {}};
    for (const auto& [run, record] : group.cases)
      curves.seeds.push_back({record->value("seed", Json()), LossCurve::of_case(run->case_folder(*record))});
    groups_.push_back(std::move(curves));
  }
}

std::optional<Horizon> RowCurves::horizon(Budget kind) const {
  if (groups_.size() < 2) return std::nullopt;
  std::optional<Horizon> least;
  for (const Curves& group : groups_) {
    if (group.seeds.empty()) return std::nullopt;
    for (const Seed& seed : group.seeds) {
      if (seed.curve.empty()) return std::nullopt;
      const double end = seed.curve.end(kind);
      if (end > 0 && (!least || end < least->budget)) least = Horizon{end, group.name};
    }
  }
  return least;
}

std::vector<SeedValue> RowCurves::losses(std::size_t group, Budget kind, double budget) const {
  std::vector<SeedValue> values;
  for (const Seed& seed : groups_[group].seeds)
    if (const auto loss = seed.curve.within(kind, budget)) values.push_back({seed.seed, *loss});
  return values;
}

std::optional<EqualBudgetTable> equal_budget_table(const RowCurves& curves, Budget kind) {
  const std::optional<Horizon> horizon = curves.horizon(kind);
  if (!horizon) return std::nullopt;
  EqualBudgetTable table{kind, *horizon, {}, {}, {}};
  for (const double share : {0.25, 0.5, 1.}) table.budgets.push_back(share * horizon->budget);
  for (std::size_t group = 0; group < curves.size(); ++group) {
    table.names.push_back(curves.name(group));
    std::vector<std::optional<EqualBudgetTable::Cell>> row;
    for (const double budget : table.budgets) {
      std::vector<double> values;
      for (const SeedValue& seed_value : curves.losses(group, kind, budget))
        values.push_back(seed_value.value);
      if (values.empty())
        row.push_back(std::nullopt);
      else
        row.push_back(EqualBudgetTable::Cell{values.size(), mean(values), t_interval(values, kConfidence)});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace longhaul
