#include "analysis/comparison/equal_budget.h"

#include <filesystem>
#include <iterator>

#include "analysis/comparison/comparison.h"
#include "core/base/csv.h"
#include "core/base/ranges.h"

namespace longhaul {

LossCurve LossCurve::of_case(const std::string& case_folder) {
  LossCurve curve;
  const std::string file = case_folder + "/metrics.csv";
  if (!std::filesystem::exists(file)) return curve;
  CsvStream rows(file, {"replica", "phase", "loss", "simulated_s", "bytes_sent"});
  while (rows.next())
    if (rows.text(0) == "mean")
      curve.points_.push_back({rows.number(3), rows.number(4), rows.number(2), rows.text(1) == "before",
                               rows.text(1) == "after"});
  return curve;
}

std::optional<double> LossCurve::within(Budget kind, double budget) const {
  const auto next = find_if(points_, [&](const Point& point) { return point.used(kind) > budget; });
  if (next == points_.begin()) return std::nullopt;
  const Point& last = *std::prev(next);
  if (next == points_.end() || (last.is_before && next->is_after)) return last.loss;
  const double used = last.used(kind);
  return last.loss + (next->loss - last.loss) * (budget - used) / (next->used(kind) - used);
}

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
