#include "analysis/comparison/comparison.h"

#include <fmt/core.h>

#include <cmath>
#include <set>

#include "analysis/comparison/draws.h"
#include "analysis/comparison/metric.h"
#include "analysis/comparison/power_notes.h"
#include "analysis/comparison/samples.h"
#include "analysis/record_values.h"
#include "analysis/residual.h"
#include "analysis/statistics.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/ranges.h"

namespace longhaul {
namespace {

using Test = Comparison::Test;
using Outcome = Comparison::Outcome;

std::vector<double> numbers(const std::vector<SeedValue>& values) {
  return each_of(values, &SeedValue::value);
}

Group group_of(const GroupSample& sample, const Metric& metric) {
  Group group;
  group.name = sample.name;
  group.cases = sample.cases.size();
  group.draws = sample.draws;
  if (follows_from_training(metric)) group.draws.push_back(kTheTraining);
  for (const RunCase& run_case : sample.cases) {
    const Json* record = run_case.record;
    if (!metric.target.empty() && record->contains(metric.target)) group.has_target = true;
    group.rounding = std::max(group.rounding, rounding_of(*record, metric));
    const std::optional<double> value = run_case.value_at(metric.path);
    if (value && std::isfinite(*value)) group.values.push_back({record->value("seed", Json()), *value});
    if (metric.depends_on_network_time && record->contains("fidelity"))
      group.residual = std::max(group.residual, network_residual(*record));
    if (group.residual >= 1 && group.outside.empty()) group.outside = outside_of(*record);
  }
  if (group.values.empty()) return group;
  const std::vector<double> list = numbers(group.values);
  group.mean = mean(list);
  group.interval = t_interval(list, kConfidence);
  std::size_t said = 0;  // records say themselves what the metric may be
  for (const RunCase& run_case : sample.cases) {
    const std::optional<double> value = run_case.value_at(metric.path);
    const auto possible = possible_value(*run_case.record, metric.path);
    if (!possible || !value) continue;
    ++said;
    group.model_error = std::max({group.model_error, *value - possible->low, possible->high - *value});
  }
  if (said < group.values.size())
    group.model_error = std::max(group.model_error, group.residual * std::abs(group.mean));
  return group;
}

// Means of those that arrived would leave out the slowest: what can be compared is how many did.
void test_reached(const Group& a, const Group& b, Comparison& comparison) {
  comparison.seeds = std::min(a.cases, b.cases);
  if (a.values.empty() && b.values.empty()) {
    comparison.remark = "neither reaches it";
    return;
  }
  comparison.test = Test::kFisher;
  comparison.difference.p =
      fisher_exact(static_cast<unsigned>(a.values.size()), static_cast<unsigned>(a.cases),
                   static_cast<unsigned>(b.values.size()), static_cast<unsigned>(b.cases));
}

std::vector<std::string> draws_of_both(const Group& a, const Group& b) {
  std::vector<std::string> draws = a.draws;
  for (const std::string& draw : b.draws) add_new(draw, draws);
  return draws;
}

// A single seed that both have, and that draws nothing but what the replay needs.
bool is_one_draw(const Group& a, const Group& b) {
  const std::vector<std::string> draws = draws_of_both(a, b);
  return a.values.size() == 1 && b.values.size() == 1 && a.values[0].seed == b.values[0].seed &&
         !draws.empty() && !contains(draws, kUnknownDraws) && !contains(draws, kTheTraining);
}

void test_means(const Group& a, const Group& b, Comparison& comparison) {
  comparison.has_difference = true;
  if (a.is_fixed() && b.is_fixed()) {
    comparison.test = Test::kFixed;
    comparison.seeds = std::min(a.values.size(), b.values.size());
    comparison.difference.mean = a.mean - b.mean;
    comparison.interval = {comparison.difference.mean, comparison.difference.mean};
    return;
  }
  const auto [paired_a, paired_b] = shared_seeds(a, b);
  if (paired_a.size() >= 2) {
    comparison.test = Test::kPaired;
    comparison.seeds = paired_a.size();
    comparison.difference = paired_difference(paired_a, paired_b);
    const std::size_t left = a.values.size() + b.values.size() - 2 * paired_a.size();
    if (left) comparison.remark = counted(left, "unpaired seed") + " left out";
    return;
  }
  comparison.seeds = std::min(a.values.size(), b.values.size());
  comparison.difference.mean = a.mean - b.mean;
  if (is_one_draw(a, b)) {
    comparison.test = Test::kOneDraw;
    comparison.interval = {comparison.difference.mean, comparison.difference.mean};
    return;
  }
  if (comparison.seeds < 2) {
    const std::vector<std::string> draws = draws_of_both(a, b);
    comparison.remark = "one seed shows nothing";
    if (!draws.empty() && !contains(draws, kUnknownDraws))
      comparison.remark += ": it decides " + enumeration(draws, "and");
    return;
  }
  comparison.test = Test::kWelch;
  comparison.difference = welch_difference(numbers(a.values), numbers(b.values));
}

using Pair = std::pair<std::string, std::string>;

std::vector<std::string> names_of(const Samples& samples) {
  std::vector<std::string> names;
  for (const RowSample& row : samples.rows)
    for (const GroupSample& group : row.groups) add_new(group.name, names);
  return names;
}

// The colon between two of the names, which may have colons themselves, or else the first one.
std::size_t colon_between(const std::string& text, const std::vector<std::string>& names) {
  for (std::size_t colon = text.find(':'); colon != std::string::npos; colon = text.find(':', colon + 1))
    if (contains(names, text.substr(0, colon)) && contains(names, text.substr(colon + 1))) return colon;
  return text.find(':');
}

// Twice the same comparison would be corrected for as two.
std::vector<Pair> parsed_pairs(const std::vector<std::string>& texts, const std::vector<std::string>& names) {
  std::vector<Pair> pairs;
  for (const std::string& text : texts) {
    const std::size_t colon = colon_between(text, names);
    const Pair pair(text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1));
    if (pair.first.empty() || pair.second.empty() || pair.first == pair.second)
      throw InputError("--pair", "found \"" + text + "\"",
                       "two different names with a colon between, as a:b");
    if (!contains(pairs, Pair(pair.second, pair.first))) add_new(pair, pairs);
  }
  return pairs;
}

// Indices of the two groups of each comparison, in the order in which they are to be shown.
std::vector<std::pair<std::size_t, std::size_t>> compared_groups(const std::vector<Group>& groups,
                                                                 const std::vector<Pair>& pairs) {
  std::vector<std::pair<std::size_t, std::size_t>> indices;
  const auto index_of = [&](const std::string& name) {
    return as_index(find_if(groups, [&](const Group& group) { return group.name == name; }) - groups.begin());
  };
  for (const auto& [a, b] : pairs)
    if (index_of(a) < groups.size() && index_of(b) < groups.size())
      indices.push_back({index_of(a), index_of(b)});
  for (std::size_t i = 0; pairs.empty() && i < groups.size(); ++i)
    for (std::size_t j = i + 1; j < groups.size(); ++j) indices.push_back({i, j});
  return indices;
}

std::vector<Comparison> comparisons_of(const std::vector<Group>& groups, const std::vector<Pair>& pairs) {
  std::vector<Comparison> comparisons;
  for (const auto& [i, j] : compared_groups(groups, pairs)) {
    const Group &a = groups[i], &b = groups[j];
    Comparison comparison;
    comparison.a = i;
    comparison.b = j;
    if ((a.missed_target() || b.missed_target()) && a.has_target && b.has_target)
      test_reached(a, b, comparison);
    else if (!a.values.empty() && !b.values.empty())
      test_means(a, b, comparison);
    else
      continue;  // a method that never exchanges has no synchronization time
    comparisons.push_back(comparison);
  }
  return comparisons;
}

void correct(MetricComparison& metric) {
  std::vector<Comparison*> family;
  std::vector<double> p;
  for (ComparisonRow& row : metric.rows)
    for (Comparison& comparison : row.comparisons)
      if (comparison.has_p()) {
        family.push_back(&comparison);
        p.push_back(comparison.difference.p);
      }
  const std::vector<Corrected> corrected = holm(p, kLevel);
  for (std::size_t i = 0; i < family.size(); ++i) {
    family[i]->corrected = corrected[i];
    if (family[i]->test != Test::kFisher)
      family[i]->interval = family[i]->difference.interval(1 - corrected[i].level);
    if (family[i]->test == Test::kPaired) {
      const double n = static_cast<double>(family[i]->seeds);
      family[i]->detectable = family[i]->difference.error * std::sqrt(n) *
                              detectable_effect(family[i]->seeds, corrected[i].level, kPower);
    }
  }
  metric.tests = family.size();
}

// What the network model's error makes of a difference.
double model_error(const Group& a, const Group& b) {
  return a.model_error + b.model_error;
}

// Values that the model's error moves the same way, all by the same share of them.
std::vector<double> moved(std::vector<double> values, const Group& group, int way) {
  const double share = group.mean == 0 ? 0 : group.model_error / std::abs(group.mean);
  for (double& value : values) value += way * share * std::abs(value);
  return values;
}

// The difference, with the model's error against it in both groups.
Difference least_difference(const Comparison& comparison, const Group& a, const Group& b) {
  const int way = comparison.difference.mean < 0 ? 1 : -1;
  if (comparison.test == Test::kWelch)
    return welch_difference(moved(numbers(a.values), a, way), moved(numbers(b.values), b, -way));
  const auto [paired_a, paired_b] = shared_seeds(a, b);
  return paired_difference(moved(paired_a, a, way), moved(paired_b, b, -way));
}

// Whether it has the sign of what was found, at the level of the test.
bool stays(const Comparison& comparison, const Group& a, const Group& b) {
  const double found = comparison.difference.mean;
  if (!comparison.has_p()) return std::abs(found) > model_error(a, b);
  const Interval least = least_difference(comparison, a, b).interval(1 - comparison.corrected.level);
  return found < 0 ? least.high < 0 : least.low > 0;
}

// A difference that the model's error can turn round is not shown. Why not; "" where it is shown.
std::string within_residual(const Comparison& comparison, const Group& a, const Group& b) {
  const double residual = std::max(a.residual, b.residual), error = model_error(a, b);
  if (residual == 0) return "";
  if (residual < 1 && stays(comparison, a, b)) return "";
  if (residual >= 1) return unknown_residual_in_words(a.residual >= 1 ? a.outside : b.outside);
  const long percent = std::lround(100 * residual);
  if (std::abs(comparison.difference.mean) <= error)
    return fmt::format("within the network model's error of {} %", percent);
  return fmt::format(
      "the interval over seeds ends within the network model's error of {} %: more seeds may decide",
      percent);
}

bool is_rounding(const Metric& metric, const Comparison& comparison, const Group& a, const Group& b) {
  const double difference = std::abs(comparison.difference.mean);
  if (!comparison.has_p() && difference <= 1e-9 * std::max(std::abs(a.mean), std::abs(b.mean))) return true;
  return metric.unit == Metric::Unit::kSeconds && difference < std::max(a.rounding, b.rounding);
}

void judge_equivalence(const Metric& metric, double margin, const ComparisonRow& row,
                       Comparison& comparison) {
  if (margin == 0 || !comparison.has_bounds()) return;
  const double error = model_error(row.groups[comparison.a], row.groups[comparison.b]);
  comparison.is_equivalent =
      comparison.interval.low - error > -margin && comparison.interval.high + error < margin;
  const std::string within = "equal to within " + value_text(metric, margin);
  if (!comparison.remark.empty()) comparison.remark += ", ";
  comparison.remark += (comparison.is_equivalent ? "" : "not shown ") + within;
}

void judge(const Metric& metric, const ComparisonRow& row, Comparison& comparison) {
  if (comparison.test == Test::kNone || (comparison.has_p() && comparison.corrected.p > kLevel)) return;
  const Group &a = row.groups[comparison.a], &b = row.groups[comparison.b];
  if (comparison.test == Test::kFisher) {
    comparison.outcome =
        a.values.size() * b.cases > b.values.size() * a.cases ? Outcome::kBetter : Outcome::kWorse;
    return;
  }
  if (is_rounding(metric, comparison, a, b)) {
    comparison.remark = comparison.difference.mean == 0 ? "equal" : "equal but for rounding";
    return;
  }
  if (const std::string why = within_residual(comparison, a, b); !why.empty()) {
    comparison.remark = why;
    return;
  }
  const bool lower = comparison.difference.mean < 0;
  if (metric.better == Metric::Better::kNeither)
    comparison.outcome = lower ? Outcome::kLower : Outcome::kHigher;
  else
    comparison.outcome =
        lower == (metric.better == Metric::Better::kLower) ? Outcome::kBetter : Outcome::kWorse;
  if (comparison.test == Test::kOneDraw)
    comparison.remark =
        "shown for this draw alone: one seed decides " + enumeration(draws_of_both(a, b), "and");
}

// How many seeds decide where the same shares reach the target.
std::size_t seeds_to_reach(const Group& a, const Group& b, double level) {
  const auto reaching = [](const Group& group, std::size_t seeds) {
    const std::size_t of = group.cases;
    return static_cast<unsigned>((2 * group.values.size() * seeds + of) / (2 * of));  // rounded
  };
  std::size_t seeds = std::min(a.cases, b.cases) + 1;
  for (; seeds <= kMostSeeds; ++seeds) {
    const unsigned n = static_cast<unsigned>(seeds);
    if (fisher_exact(reaching(a, seeds), n, reaching(b, seeds), n) <= level) break;
  }
  return seeds;
}

std::size_t seeds_needed(const Comparison& comparison, const Group& a, const Group& b) {
  if (comparison.outcome != Outcome::kNone || !comparison.has_p()) return 0;
  if (comparison.test == Test::kFisher)
    return a.values.size() * b.cases == b.values.size() * a.cases
               ? 0
               : seeds_to_reach(a, b, comparison.corrected.level);
  const double difference = std::abs(comparison.difference.mean), error = model_error(a, b);
  const double scatter = least_difference(comparison, a, b).error;
  if (difference <= error || scatter == 0) return 0;
  const double spread = scatter * std::sqrt(static_cast<double>(comparison.seeds));
  return pairs_needed((difference - error) / spread, comparison.corrected.level, kPower, kMostSeeds);
}

bool same_values(const Group& a, const Group& b) {
  return a.name == b.name && a.cases == b.cases && a.has_target == b.has_target &&
         std::equal(
             a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
             [](const SeedValue& x, const SeedValue& y) { return x.seed == y.seed && x.value == y.value; });
}

// A loss does not depend on the network: tested once for each network, it would be corrected for tests that
// say nothing new.
bool joins_a_row(const ComparisonRow& row, std::vector<ComparisonRow>& rows) {
  for (ComparisonRow& known : rows)
    if (std::equal(known.groups.begin(), known.groups.end(), row.groups.begin(), row.groups.end(),
                   same_values)) {
      known.same_at.push_back(row.point);
      return true;
    }
  return false;
}

MetricComparison compared(const Metric& metric, const Samples& samples, const std::vector<Pair>& pairs) {
  MetricComparison comparison{metric, {}, 0};
  for (const RowSample& sample : samples.rows) {
    ComparisonRow row{sample.at, sample.point, {}, {}, {}};
    for (const GroupSample& group : sample.groups) row.groups.push_back(group_of(group, metric));
    if (joins_a_row(row, comparison.rows)) continue;
    row.comparisons = comparisons_of(row.groups, pairs);
    comparison.rows.push_back(std::move(row));
  }
  return comparison;
}

// A pair that stands in no row is a misspelt one.
void check_pairs(const ComparisonTable& table, const std::vector<Pair>& pairs) {
  std::vector<std::string> names;
  std::set<Pair> met;
  for (const MetricComparison& metric : table.metrics)
    for (const ComparisonRow& row : metric.rows) {
      for (const Group& group : row.groups) add_new(group.name, names);
      for (const Comparison& comparison : row.comparisons)
        met.emplace(row.groups[comparison.a].name, row.groups[comparison.b].name);
    }
  for (const auto& [a, b] : pairs) {
    for (const std::string& name : {a, b})
      if (!contains(names, name))
        throw InputError("--pair", "nothing is called \"" + name + "\"", join(names),
                         did_you_mean(name, names));
    if (met.count({a, b}) == 0)
      throw InputError("--pair", fmt::format("\"{}\" and \"{}\" never stand at the same point", a, b),
                       "two that differ in nothing else");
  }
}

}  // namespace

bool Group::is_fixed() const {
  if (!draws.empty() || values.empty() || values.size() < cases) return false;
  return std::all_of(values.begin(), values.end(), [&](const SeedValue& seed_value) {
    return std::abs(seed_value.value - values[0].value) <= 1e-9 * std::abs(values[0].value);
  });
}

std::pair<std::vector<double>, std::vector<double>> shared_seeds(const Group& a, const Group& b) {
  std::pair<std::vector<double>, std::vector<double>> pairs;
  for (const SeedValue& seed_value : a.values)
    for (const SeedValue& other : b.values)
      if (seed_value.seed == other.seed) {
        pairs.first.push_back(seed_value.value);
        pairs.second.push_back(other.value);
      }
  return pairs;
}

ComparisonTable compare_samples(const Samples& samples, const std::vector<Metric>& metrics,
                                const ComparisonRequest& request) {
  ComparisonTable table;
  table.by = request.by;
  table.margin = request.margin;
  const std::vector<Pair> pairs = parsed_pairs(request.pairs, names_of(samples));
  for (const Metric& metric : metrics) table.metrics.push_back(compared(metric, samples, pairs));
  check_pairs(table, pairs);
  for (MetricComparison& metric : table.metrics) {
    correct(metric);
    table.tests += metric.tests;
    for (ComparisonRow& row : metric.rows)
      for (Comparison& comparison : row.comparisons) {
        judge(metric.metric, row, comparison);
        comparison.seeds_needed =
            seeds_needed(comparison, row.groups[comparison.a], row.groups[comparison.b]);
        judge_equivalence(metric.metric, request.margin, row, comparison);
      }
  }
  return table;
}

ComparisonTable compare_runs(const std::vector<RunDirectory>& runs, const ComparisonRequest& request) {
  const Samples samples = samples_of(runs, request);
  ComparisonTable table =
      compare_samples(samples, chosen_metrics(request.metrics, all_records(runs)), request);
  table.notes = samples.notes;
  for (std::string& note : power_notes(table)) table.notes.push_back(std::move(note));
  return table;
}

}  // namespace longhaul
