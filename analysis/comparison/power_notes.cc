#include "analysis/comparison/power_notes.h"

#include <fmt/core.h>

#include <algorithm>

#include "analysis/comparison/comparison.h"
#include "analysis/comparison/metric.h"
#include "analysis/text.h"

namespace longhaul {
namespace {

constexpr double kFindableEffect = 3;  // standard deviations of a difference

struct Undecided {
  std::size_t single = 0;        // comparisons of one seed
  std::size_t fewest_seeds = 0;  // of what was tested and not shown; 0: all is shown
  std::size_t tests = 0;         // the family that has them, the largest
  bool unmatched = false;        // no two groups stand in one row
};

Undecided undecided_of(const ComparisonTable& table) {
  Undecided found;
  found.unmatched = true;
  for (const MetricComparison& metric : table.metrics)
    for (const ComparisonRow& row : metric.rows) {
      if (row.groups.size() > 1) found.unmatched = false;
      for (const Comparison& comparison : row.comparisons) {
        const bool is_of_chance =
            comparison.test == Comparison::Test::kNone || comparison.test == Comparison::Test::kOneDraw;
        if (is_of_chance && comparison.seeds < 2) ++found.single;
        if (!comparison.has_p() || comparison.corrected.p <= kLevel) continue;
        if (found.fewest_seeds == 0 || comparison.seeds < found.fewest_seeds)
          found.fewest_seeds = comparison.seeds;
        found.tests = std::max(found.tests, metric.tests);
      }
    }
  return found;
}

std::string too_few(const Undecided& found) {
  const double level = kLevel / static_cast<double>(found.tests);
  const double effect = detectable_effect(found.fewest_seeds, level, kPower);
  if (effect <= kFindableEffect) return "";
  return fmt::format(
      "{} seeds are too few to show anything but a very large difference: among {} of one metric one of "
      "{:.1f} "
      "standard deviations would be found in 80 % of cases. {} seeds find one of {:.1f}; fewer comparisons "
      "(--pair, --where) need fewer seeds.",
      found.fewest_seeds, counted(found.tests, "comparison"), effect,
      seeds_for_a_large_difference(found.tests), kFindableEffect);
}

// In the metric's units, since a reader knows what would matter there.
std::string found_in_units(const MetricComparison& metric) {
  double least = 0, most = 0;
  for (const ComparisonRow& row : metric.rows)
    for (const Comparison& comparison : row.comparisons) {
      if (comparison.test != Comparison::Test::kPaired) continue;
      const Group &a = row.groups[comparison.a], &b = row.groups[comparison.b];
      if (a.residual >= 1 || b.residual >= 1) continue;  // no difference is shown
      const double detectable = comparison.detectable + a.model_error + b.model_error;
      least = most == 0 ? detectable : std::min(least, detectable);
      most = std::max(most, detectable);
    }
  if (most == 0) return "";
  const std::string low = value_text(metric.metric, least), high = value_text(metric.metric, most);
  return fmt::format(
      "With this spread over the seeds{} a difference of {}{} in {} would be found in 80 % of cases.",
      metric.metric.depends_on_network_time ? " and the network model's error" : "", low,
      low == high ? "" : " to " + high, metric.metric.path);
}

}  // namespace

std::size_t seeds_for_a_large_difference(std::size_t tests) {
  const double level = kLevel / static_cast<double>(std::max<std::size_t>(1, tests));
  return pairs_needed(kFindableEffect, level, kPower, kMostSeeds);
}

std::vector<std::string> power_notes(const ComparisonTable& table) {
  const Undecided found = undecided_of(table);
  if (found.unmatched)
    return {fmt::format(
        "There is nothing to compare: no two values of what is compared (--by {}) stand at the same "
        "point of everything else.",
        table.by)};
  std::vector<std::string> notes;
  if (found.single)
    notes.push_back(
        "Of one seed it cannot be said whether a difference is chance; give the scenario several, as "
        "\"seeds\": [1, 2, 3, 4, 5]." +
        std::string(table.margin > 0 ? " Nor whether the difference is smaller than --margin." : ""));
  for (const MetricComparison& metric : table.metrics)
    if (const std::string note = found_in_units(metric); table.margin > 0 && !note.empty())
      notes.push_back(note);
  if (found.fewest_seeds)
    if (const std::string note = too_few(found); !note.empty()) notes.push_back(note);
  return notes;
}

}  // namespace longhaul
