#include "analysis/comparison/equal_budget.h"

namespace longhaul {

RowCurves::RowCurves(const std::vector<GroupSample>& groups) {
  for (const GroupSample& group : groups) {
    Curves curves{group.name, {}};
    for (const RunCase& run_case : group.cases)
      curves.seeds.push_back({run_case.record->value("seed", Json()),
                              LossCurve::of_case(run_case.run->case_folder(*run_case.record))});
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

}  // namespace longhaul
