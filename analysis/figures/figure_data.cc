#include "analysis/figures/figure_data.h"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "analysis/claims/claims.h"
#include "analysis/claims/verdict_matrix.h"
#include "analysis/comparison/metric.h"
#include "analysis/comparison/samples.h"
#include "analysis/exchange_table.h"
#include "analysis/learning_curve.h"
#include "analysis/palette.h"
#include "analysis/record_values.h"
#include "analysis/run_files.h"
#include "analysis/statistics.h"
#include "core/base/errors.h"
#include "core/base/ranges.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

constexpr std::size_t kMostPoints = 6;  // of the sweep that get figures of their own
constexpr std::size_t kCurvePoints = 500, kMostSteps = 1000;

using Notes = std::vector<std::string>;

// The seeds' curves; where they were not evaluated at the same steps there is no mean, and the first alone is
// drawn.
std::vector<Json> curves_of(const GroupSample& group, Notes& notes) {
  std::vector<Json> curves;
  for (const RunCase& run_case : group.cases) {
    const std::string folder = run_case.run->case_folder(*run_case.record);
    try {
      if (const std::string torn = cut_off(folder + "/metrics.csv"); !torn.empty()) throw RunError(torn);
      const Json curve = curve_of(folder, run_case.run->train_folder(*run_case.record), kCurvePoints);
      if (curve.is_object() && !curve["step"].empty()) curves.push_back(curve);
    } catch (const RunError& error) {
      notes.push_back(error.what() + std::string("; its curve is left out"));
    }
  }
  const bool alike = std::all_of(curves.begin(), curves.end(),
                                 [&](const Json& entry) { return entry["step"] == curves[0]["step"]; });
  if (!alike) {
    notes.push_back(group.name + ": its seeds were not evaluated at the same steps; one is drawn");
    curves.resize(1);
  }
  return curves;
}

std::vector<double> at_evaluation(const std::vector<Json>& curves, const char* key, std::size_t i) {
  std::vector<double> values;
  for (const Json& curve : curves)
    if (curve[key].size() > i && curve[key][i].is_number()) values.push_back(curve[key][i]);
  return values;
}

Json mean_curve(const std::vector<Json>& curves) {
  if (curves.empty()) return nullptr;
  Json curve = {{"seeds", curves.size()}};
  for (const char* key : {"step", "time_s", "bytes"})
    for (std::size_t i = 0; i < curves[0]["step"].size(); ++i) {
      const std::vector<double> values = at_evaluation(curves, key, i);
      if (values.size() < curves.size()) {
        curve[key] = nullptr;
        break;
      }
      curve[key].push_back(mean(values));
    }
  for (std::size_t i = 0; i < curves[0]["step"].size(); ++i) {
    const std::vector<double> losses = at_evaluation(curves, "loss", i);
    if (losses.size() < curves.size()) return nullptr;
    const Interval interval = t_interval(losses, 0.95);
    const auto [least, greatest] = std::minmax_element(losses.begin(), losses.end());
    for (const auto& [key, value] :
         {std::pair("loss", mean(losses)), std::pair("low", interval.low), std::pair("high", interval.high),
          std::pair("least", *least), std::pair("greatest", *greatest)})
      curve[key].push_back(value);
  }
  return curve;
}

// The distribution function of all synchronizations (seeds, replicas, outer steps). Of many, evenly spaced
// ones.
Json distribution_of(const GroupSample& group, Notes& notes) {
  std::vector<double> times;
  for (const RunCase& run_case : group.cases) {
    const std::string folder = run_case.run->case_folder(*run_case.record), file = folder + "/exchanges.csv";
    if (!std::filesystem::exists(file)) continue;
    const std::size_t before = times.size();
    try {
      if (const std::string torn = cut_off(file); !torn.empty()) throw RunError(torn);
      for (const Synchronization& one : synchronizations(folder))
        if (one.exchanges) times.push_back(one.sync_s);
    } catch (const RunError& error) {
      times.resize(before);
      notes.push_back(error.what() + std::string("; its exchanges are left out"));
    }
  }
  if (times.empty()) return nullptr;
  std::sort(times.begin(), times.end());
  Json steps = Json::array({Json::array({times[0], 0})});
  const std::size_t count = std::min(times.size(), kMostSteps);
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t rank = i * times.size() / count;  // how many are at most the rank-th
    steps.push_back(
        Json::array({times[rank - 1], static_cast<double>(rank) / static_cast<double>(times.size())}));
  }
  return {{"count", times.size()}, {"steps", steps}};
}

std::vector<double> values_of(const GroupSample& group, const std::string& path) {
  std::vector<double> values;
  for (const RunCase& run_case : group.cases)
    if (const auto value = value_at(*run_case.record, path)) values.push_back(*value);
  return values;
}

Json parts_of(const GroupSample& group) {
  Json parts = Json::object();
  for (const char* part : {"compute_time_s", "bubble_time_s", "stage_wait_time_s", "inside_wait_time_s",
                           "batch_wait_time_s", "exchange_time_s", "wait_time_s"})
    if (const std::vector<double> values = values_of(group, part); !values.empty())
      parts[part] = mean(values);
  return parts;
}

Json point_data(const RowSample& row, Notes& notes) {
  Json groups = Json::array();
  bool bits = true, stages = false;
  for (const GroupSample& group : row.groups) {
    groups.push_back({{"name", group.name},
                      {"label", group.label},
                      {"seeds", group.cases.size()},
                      {"curve", mean_curve(curves_of(group, notes))},
                      {"times", distribution_of(group, notes)},
                      {"parts", parts_of(group)}});
    for (const RunCase& run_case : group.cases) {
      bits = bits && has_byte_tokens(run_case.run->manifest.value("scenario", Json::object()));
      stages = stages || run_case.record->contains("bubble_time_s");
    }
  }
  return {{"at", row.at}, {"stages", stages}, {"bits", bits}, {"groups", groups}};
}

// A mean over the seeds that reached a target would leave out the slowest.
Json sweep_data(const std::vector<RowSample>& rows, const Metric& metric) {
  Json entries = Json::array();
  for (const RowSample& row : rows)
    for (const GroupSample& group : row.groups) {
      const std::vector<double> values = values_of(group, metric.path);
      if (values.empty() || values.size() < group.cases.size()) continue;
      const Interval interval = t_interval(values, 0.95);
      entries.push_back({{"point", row.point},
                         {"label", group.label},
                         {"seeds", values.size()},
                         {"y", mean(values)},
                         {"low", interval.low},
                         {"high", interval.high}});
    }
  return {{"metric", metric.path}, {"unit", unit_sign(metric.unit)}, {"entries", entries}};
}

// The claims of a scenario on one quantity, and the cases of all runs of it.
struct Quantity {
  std::vector<Json> claims, records;
};

std::vector<Quantity> quantities_of(const std::vector<RunDirectory>& runs) {
  std::map<Json, std::size_t> place;
  std::vector<Quantity> quantities;
  for (const RunDirectory& run : runs) {
    std::set<std::size_t> of_this_run;
    for (const Json& claim : run.claims().get<std::vector<Json>>()) {
      Json identity = {run.written};
      for (const char* key : {"ratio", "metric", "of", "to"}) identity.push_back(claim.value(key, Json()));
      const std::size_t at = place.emplace(identity, quantities.size()).first->second;
      quantities.resize(std::max(quantities.size(), at + 1));
      Quantity& quantity = quantities[at];
      if (of_this_run.insert(at).second)
        quantity.records.insert(quantity.records.end(), run.records.begin(), run.records.end());
      add_new(claim, quantity.claims);
    }
  }
  return quantities;
}

Json claim_data(const Quantity& quantity) {
  Json claim = quantity.claims[0], points = Json::array();
  claim.erase("where");
  claim.erase("quantifier");
  for (const JudgedPoint& point : judged_points(claim, quantity.records))
    if (std::isfinite(point.measured))
      points.push_back({{"swept", point.swept},
                        {"measured", point.measured},
                        {"low", point.possible.low},
                        {"high", point.possible.high},
                        {"residual", point.residual}});
  const VerdictMatrix matrix = verdict_matrix(claim, quantity.records);
  return {{"claim", claim},
          {"claims", quantity.claims},
          {"unit", claim.contains("metric") ? unit_sign(metric_named(claim["metric"]).unit) : ""},
          {"verdicts", verdict_lines(judge_claims(quantity.claims, quantity.records))},
          {"keys", Json::array({matrix.row_key, matrix.column_key})},
          {"points", points}};
}

// The records that stand in `samples`, in their runs.
std::vector<RunDirectory> runs_of(const std::vector<RunDirectory>& runs, const Samples& samples) {
  std::set<const Json*> chosen;
  for (const RowSample& row : samples.rows)
    for (const GroupSample& group : row.groups)
      for (const RunCase& run_case : group.cases) chosen.insert(run_case.record);
  std::vector<RunDirectory> some = runs;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    some[i].records.clear();
    for (const Json& record : runs[i].records)
      if (chosen.count(&record)) some[i].records.push_back(record);
  }
  return some;
}

// The texts among the swept values that are quantities: {"500ms": [0.5, "s"]}.
Json quantities_in(const std::vector<RunDirectory>& runs) {
  Json quantities = Json::object();
  const std::tuple<double (*)(const std::string&), const char*> parsers[] = {
      {parse_duration, "s"}, {parse_rate, "bit/s"}, {parse_bytes, "B"}};
  for (const Json& record : all_records(runs)) {
    const Json swept = record.value("swept", Json::object());
    for (const auto& [key, value] : swept.items())
      for (const auto& [parse, unit] : parsers) try {
          if (value.is_string() && !quantities.contains(value.get<std::string>()))
            quantities[value.get<std::string>()] = Json::array({parse(value), unit});
        } catch (const InputError&) {  // no quantity of this kind
        }
  }
  return quantities;
}

Json colors_of(const std::vector<RunDirectory>& runs) {
  std::vector<std::string> labels;
  for (const RunDirectory& run : runs)
    for (const Json& record : run.records)
      add_new(record.value("label", record.value("method", "?")), labels);
  const std::map<std::string, std::string> of_names = method_colors(labels);
  Json colors = Json::object();  // in the order of the scenario, in which figures name them
  for (const std::string& label : labels) colors[label] = of_names.at(label);
  return colors;
}

}  // namespace

Json figure_data(const std::vector<RunDirectory>& runs, const FigureRequest& request) {
  const std::vector<Metric> metrics = chosen_metrics(request.metrics, all_records(runs));
  const Samples by_method = samples_of(runs, {"method", {}, request.where});
  Notes notes = by_method.notes;
  Json data = {{"colors", colors_of(runs)}, {"quantities", quantities_in(runs)}};
  for (const char* list : {"points", "sweeps", "claims", "matrices"}) data[list] = Json::array();
  for (const RowSample& row : by_method.rows)
    if (data["points"].size() < kMostPoints) data["points"].push_back(point_data(row, notes));
  if (by_method.rows.size() > kMostPoints)
    notes.push_back(
        fmt::format("figures of single points are made for the first {} of {} points; choose others with "
                    "--where key=value",
                    kMostPoints, by_method.rows.size()));
  const Samples by_label = samples_of(runs, {"label", {}, request.where});
  for (const Metric& metric : metrics) data["sweeps"].push_back(sweep_data(by_label.rows, metric));
  for (const Quantity& quantity : quantities_of(request.where.empty() ? runs : runs_of(runs, by_method))) {
    data["claims"].push_back(claim_data(quantity));
    for (const Json& picture : claim_pictures(quantity.claims, quantity.records))
      data["matrices"].push_back(picture);
  }
  data["notes"] = notes;
  return data;
}

}  // namespace longhaul
