#include "analysis/comparison/decision.h"

#include "analysis/comparison/comparison.h"
#include "analysis/comparison/decision_words.h"
#include "analysis/comparison/equal_budget.h"
#include "analysis/comparison/samples.h"
#include "analysis/record_values.h"
#include "analysis/statistics.h"
#include "core/base/ranges.h"

namespace longhaul {
namespace {

using Against = Decision::Against;
using Doubt = Decision::Doubt;
using Test = Comparison::Test;

const char* const kEqualTime = "loss@equal_time";
const char* const kEqualBytes = "loss@equal_bytes";
const char* const kEqualTimeLate = "loss@equal_time_late";  // by the network model's error

void put_losses(const RowCurves& curves, Budget kind, double share, const char* path, RowSample& row) {
  for (std::size_t group = 0; group < row.groups.size(); ++group)
    for (const SeedValue& loss : curves.losses(group, kind, share))
      for (RunCase& run_case : row.groups[group].cases)
        if (loss.seed == run_case.record->value("seed", Json())) run_case.measured[path] = loss.value;
}

// What is measured here is put into the row.
PointDecisions facts_of(RowSample& row) {
  PointDecisions facts;
  facts.at = row.at;
  for (const GroupSample& group : row.groups)
    for (const RunCase& run_case : group.cases) {
      if (const auto tokens = value_at(*run_case.record, "tokens")) add_new(*tokens, facts.tokens);
      if (const auto target = value_at(*run_case.record, "target_loss")) facts.target = target;
      // The clock of a method that is ahead may be late, and that of another early.
      if (run_case.record->contains("fidelity"))
        facts.residual = std::max(facts.residual, network_residual(*run_case.record));
    }
  const RowCurves curves(row.groups);
  facts.time = curves.horizon(Budget::kSeconds);
  facts.bytes = curves.horizon(Budget::kBytes);
  if (facts.time) {
    put_losses(curves, Budget::kSeconds, 1, kEqualTime, row);
    put_losses(curves, Budget::kSeconds, (1 - facts.residual) / (1 + facts.residual), kEqualTimeLate, row);
  }
  if (facts.bytes) put_losses(curves, Budget::kBytes, 1, kEqualBytes, row);
  return facts;
}

bool is_asked(const std::string& metric, const std::vector<RowSample>& rows) {
  const std::string& target = metric_named(metric).target;
  for (const RowSample& row : rows)
    for (const GroupSample& group : row.groups)
      for (const RunCase& run_case : group.cases)
        if (run_case.value_at(target.empty() ? metric : target)) return true;
  return false;
}

// A group that takes part in a question, in the order of the answer.
struct Standing {
  std::size_t group = 0;
  double reached = 1;  // share of the seeds that have a value
};

std::vector<Standing> standings(const std::vector<Group>& groups) {
  std::vector<Standing> all;
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (!groups[i].values.empty() || groups[i].has_target)
      all.push_back({i, static_cast<double>(groups[i].values.size()) /
                            static_cast<double>(std::max<std::size_t>(1, groups[i].cases))});
  stable_sort(all, [&](const Standing& a, const Standing& b) {
    return a.reached != b.reached ? a.reached > b.reached : groups[a.group].mean < groups[b.group].mean;
  });
  return all;
}

Doubt doubt_of(const Comparison& comparison) {
  if (comparison.test == Test::kNone) return Doubt::kOneSeed;
  if ((comparison.has_difference && comparison.difference.mean == 0) ||
      comparison.remark.rfind("equal", 0) == 0)
    return Doubt::kEqual;
  return comparison.has_p() && comparison.corrected.p > kLevel ? Doubt::kChance : Doubt::kNetworkModel;
}

std::optional<Against> against(const ComparisonRow& row, std::size_t ahead, std::size_t other) {
  for (const Comparison& comparison : row.comparisons) {
    const bool turned = comparison.a == ahead && comparison.b == other;  // compare gives a − b
    if (!turned && !(comparison.a == other && comparison.b == ahead)) continue;
    const double sign = turned ? -1 : 1;
    Against found{ahead, other, comparison, sign * comparison.difference.mean, comparison.interval};
    if (turned) found.interval = {-comparison.interval.high, -comparison.interval.low};
    if (comparison.outcome == Comparison::Outcome::kNone)
      found.doubt = doubt_of(comparison);
    else if (found.difference < 0)
      found.doubt = Doubt::kOtherSeeds;
    return found;
  }
  return std::nullopt;
}

const ComparisonRow* row_at(const MetricComparison& metric, const Json& point) {
  for (const ComparisonRow& row : metric.rows)
    if (row.point == point || contains(row.same_at, point)) return &row;
  return nullptr;
}

// Whether no difference is left when the clock of the one ahead is late: other − ahead, of the seeds that
// both have.
bool is_turned_by_clocks(const ComparisonRow& row, const ComparisonRow& late, const Against& found) {
  for (const Group& group : late.groups)
    if (group.name == row.groups[found.ahead].name) {
      const auto [a, b] = shared_seeds(row.groups[found.other], group);
      const double confidence = 1 - found.comparison.corrected.level;
      return a.size() < 2 || !(paired_difference(a, b).interval(confidence).low > 0);
    }
  return true;
}

std::optional<Decision> decided(const std::string& question, const Metric& metric, const ComparisonRow& row,
                                const ComparisonRow* late, double residual) {
  const std::vector<Standing> order = standings(row.groups);
  if (order.size() < 2) return std::nullopt;
  Decision decision{metric, question, row, order[0].group, {}, {}};
  if (decision.leader().values.empty()) {
    decision.doubt = Doubt::kEqual;
    return decision;
  }
  const auto judged = [&](std::size_t ahead, std::size_t other) {
    std::optional<Against> found = against(row, order[ahead].group, order[other].group);
    if (found && late && residual > 0 && found->doubt == Doubt::kNone &&
        is_turned_by_clocks(row, *late, *found)) {
      found->doubt = Doubt::kNetworkModel;
      found->by_clocks = true;
    }
    return found;
  };
  for (std::size_t i = 1; i < order.size(); ++i) {
    std::optional<Against> found = judged(0, i);
    if (!found) continue;
    if (decision.doubt == Doubt::kNone) decision.doubt = found->doubt;
    if (found->doubt == Doubt::kNone && found->comparison.test == Test::kOneDraw)
      decision.is_of_one_draw = true;
    decision.others.push_back(std::move(*found));
  }
  if (decision.others.empty()) return std::nullopt;
  for (std::size_t i = 1; i < order.size(); ++i)
    for (std::size_t j = i + 1; j < order.size(); ++j)
      if (std::optional<Against> found = judged(i, j)) decision.further.push_back(std::move(*found));
  const std::optional<OverSeeds> ratio = ratio_of(row.groups[decision.others[0].other], decision.leader());
  decision.lead = !decision.is_time() ? decision.others[0].difference : ratio ? ratio->mean : 0;
  decision.is_tie =
      decision.others.size() == 1 && decision.doubt != Doubt::kNone && decision.doubt != Doubt::kEqual;
  return decision;
}

}  // namespace

bool Decision::is_at_equal_budget() const {
  return metric.path == kEqualTime || metric.path == kEqualBytes;
}

const std::vector<std::pair<std::string, std::string>>& decision_questions() {
  static const std::vector<std::pair<std::string, std::string>> questions = {
      {"final_loss", "at equal tokens"},
      {kEqualTime, "after the same simulated time"},
      {kEqualBytes, "after the same bytes"},
      {"time_to_target_s", "to the target loss"},
      {"simulated_time_s", "in the time of the whole run"},
      {"sync_time_s.mean", "in the time of a synchronization"}};
  return questions;
}

std::optional<OverSeeds> ratio_of(const Group& other, const Group& first) {
  std::vector<double> ratios;
  const auto [of_other, of_first] = shared_seeds(other, first);
  for (std::size_t i = 0; i < of_first.size(); ++i)
    if (of_first[i] > 0) ratios.push_back(of_other[i] / of_first[i]);
  if (ratios.empty() && first.mean > 0) ratios.push_back(other.mean / first.mean);
  if (ratios.empty()) return std::nullopt;
  return over_seeds_of(ratios, std::max(other.residual, first.residual), true);
}

Conclusions conclusions_of(const std::vector<RunDirectory>& runs, const ComparisonRequest& request) {
  const std::vector<Json> records = all_records(runs);
  if (none_of(records, [](const Json& record) { return record.value("status", "") == "done"; })) return {};
  Samples samples = samples_of(runs, request);
  std::vector<PointDecisions> points;  // by row
  bool any_pair = false;
  for (RowSample& row : samples.rows) {
    any_pair = any_pair || row.groups.size() > 1;
    points.push_back(row.groups.size() > 1 ? facts_of(row) : PointDecisions());
  }
  std::vector<Metric> metrics;
  for (const auto& [metric, question] : decision_questions())
    if (is_asked(metric, samples.rows)) metrics.push_back(metric_named(metric));
  if (!any_pair || metrics.empty()) return {};
  const ComparisonTable table = compare_samples(samples, metrics, request);
  const ComparisonTable late = compare_samples(samples, {metric_named(kEqualTimeLate)}, request);
  Conclusions conclusions{conditions_in_words(runs), {}, each_of(table.metrics, &MetricComparison::tests)};
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (samples.rows[i].groups.size() < 2) continue;
    const Json& point = samples.rows[i].point;
    for (const auto& [path, question] : decision_questions())
      for (const MetricComparison& metric : table.metrics) {
        const ComparisonRow* row = metric.metric.path == path ? row_at(metric, point) : nullptr;
        if (!row) continue;
        const bool has_clocks = path == kEqualTime && is_asked(kEqualTimeLate, samples.rows);
        const ComparisonRow* late_row = has_clocks ? row_at(late.metrics[0], point) : nullptr;
        if (auto item = decided(question, metric.metric, *row, late_row, points[i].residual))
          points[i].decisions.push_back(std::move(*item));
      }
    if (!points[i].decisions.empty()) conclusions.points.push_back(std::move(points[i]));
  }
  return conclusions.empty() ? Conclusions() : conclusions;
}

}  // namespace longhaul
