#include "analysis/comparison/equal_budget.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "analysis/comparison/comparison.h"
#include "analysis/statistics.h"
#include "core/base/csv.h"
#include "core/base/ranges.h"

namespace longhaul {
namespace {

// What is used at an evaluation differs by that much and means the same: in fidelity linux hosts take
// microseconds more or less, so that of seeds that end together some would end before an outer step.
constexpr double kSameBudget = 1e-3;

}  // namespace

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
  const auto next =
      find_if(points_, [&](const Point& point) { return point.used(kind) > budget * (1 + kSameBudget); });
  if (next == points_.begin()) return std::nullopt;
  const Point& last = *std::prev(next);
  if (next == points_.end() || (last.is_before && next->is_after)) return last.loss;
  const double used = last.used(kind);
  const double on_line = std::max(0., budget - used) / (next->used(kind) - used);
  return last.loss + (next->loss - last.loss) * on_line;
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

// By seed, where the first of the groups that have it ends; those that use nothing end nowhere.
std::map<std::string, double> RowCurves::ends(Budget kind) const {
  std::map<std::string, double> ends;
  for (const Curves& group : groups_)
    for (const Seed& seed : group.seeds)
      if (const double end = seed.curve.end(kind); end > 0) {
        const auto [known, is_new] = ends.emplace(seed.seed.dump(), end);
        if (!is_new) known->second = std::min(known->second, end);
      }
  return ends;
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
  if (!least) return std::nullopt;
  std::vector<double> of_seeds;
  for (const auto& [seed, end] : ends(kind)) of_seeds.push_back(end);
  least->budget = mean(of_seeds);
  return least;
}

std::vector<SeedValue> RowCurves::losses(std::size_t group, Budget kind, double share) const {
  const std::map<std::string, double> budgets = ends(kind);
  std::vector<SeedValue> values;
  for (const Seed& seed : groups_[group].seeds) {
    const auto found = budgets.find(seed.seed.dump());
    if (found == budgets.end()) continue;
    if (const auto loss = seed.curve.within(kind, share * found->second))
      values.push_back({seed.seed, *loss});
  }
  return values;
}

}  // namespace longhaul
