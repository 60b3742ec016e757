// CSV and JSON: every number in full.
#include "analysis/comparison/render.h"
#include "core/csv.h"
#include "core/units.h"

namespace longhaul {
namespace {

using Test = Comparison::Test;

bool has_mean(const Group& group) {
  return !group.missed_target() && !group.values.empty();
}

bool has_interval(const Comparison& one) {
  return one.test == Test::kPaired || one.test == Test::kWelch;
}

Json interval_json(const Interval& interval) {
  return {interval.low, interval.high};
}

Json group_json(const Group& group) {
  Json seeds = Json::array(), values = Json::array();
  for (const SeedValue& one : group.values) {
    seeds.push_back(one.seed);
    values.push_back(one.value);
  }
  Json json = {{"name", group.name},
               {"cases", group.cases},
               {"seeds", seeds},
               {"values", values},
               {"mean", has_mean(group) ? Json(group.mean) : Json()},
               {"interval", has_mean(group) && values.size() > 1 ? interval_json(group.interval) : Json()},
               {"interval_by", values.size() >= kBootstrapFrom ? "bootstrap" : "t"}};
  if (group.has_target) json["reached"] = group.values.size();
  return json;
}

Json comparison_json_of(const ComparisonRow& row, const Comparison& one, double margin) {
  const bool tested = one.test != Test::kNone;
  return {{"a", row.groups[one.a].name},
          {"b", row.groups[one.b].name},
          {"verdict", outcome_word(one.outcome)},
          {"test", tested ? Json(test_name(one.test)) : Json()},
          {"seeds", one.seeds},
          {"difference", one.has_difference ? Json(one.difference.mean) : Json()},
          {"p", one.has_p() ? Json(one.difference.p) : Json()},
          {"p_holm", one.has_p() ? Json(one.corrected.p) : Json()},
          {"interval", has_interval(one) ? interval_json(one.interval) : Json()},
          {"confidence", has_interval(one) ? Json(1 - one.corrected.level) : Json()},
          {"detectable", one.test == Test::kPaired ? Json(one.detectable) : Json()},
          {"equivalent", has_interval(one) && margin > 0 ? Json(one.is_equivalent) : Json()},
          {"remark", one.remark}};
}

Json row_json(const ComparisonRow& row, double margin) {
  Json json = {{"at", row.point}, {"groups", Json::array()}, {"comparisons", Json::array()}};
  if (!row.same_at.empty()) json["same_at"] = row.same_at;
  for (const Group& group : row.groups) json["groups"].push_back(group_json(group));
  for (const Comparison& one : row.comparisons)
    json["comparisons"].push_back(comparison_json_of(row, one, margin));
  return json;
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) line += csv_quoted(cell) + ",";
  line.back() = '\n';
  return line;
}

std::string number_if(bool there, double value) {
  return there ? format_number(value) : "";
}

std::string group_line(const std::string& metric, const ComparisonRow& row, const Group& group) {
  const bool interval = has_mean(group) && group.values.size() > 1;
  return csv_line({metric, row.at, group.name, "", "", std::to_string(group.values.size()),
                   std::to_string(group.cases), number_if(has_mean(group), group.mean),
                   number_if(interval, group.interval.low), number_if(interval, group.interval.high), "", "",
                   ""});
}

std::string comparison_line(const std::string& metric, const ComparisonRow& row, const Comparison& one) {
  return csv_line({metric, row.at, row.groups[one.a].name, row.groups[one.b].name, test_name(one.test),
                   std::to_string(one.seeds), "", number_if(one.has_difference, one.difference.mean),
                   number_if(has_interval(one), one.interval.low),
                   number_if(has_interval(one), one.interval.high), number_if(one.has_p(), one.difference.p),
                   number_if(one.has_p(), one.corrected.p), outcome_word(one.outcome)});
}

}  // namespace

std::string comparison_csv(const ComparisonTable& table) {
  std::string text = "metric,at,a,b,test,seeds,cases,value,low,high,p,p_holm,verdict\n";
  for (const MetricComparison& metric : table.metrics)
    for (const ComparisonRow& row : metric.rows) {
      for (const Group& group : row.groups) text += group_line(metric.metric.path, row, group);
      for (const Comparison& one : row.comparisons) text += comparison_line(metric.metric.path, row, one);
    }
  return text;
}

std::string comparison_json(const ComparisonTable& table) {
  Json json = {{"by", table.by},
               {"level", kLevel},
               {"tests", table.tests},
               {"margin", table.margin > 0 ? Json(table.margin) : Json()},
               {"metrics", Json::array()}};
  for (const MetricComparison& metric : table.metrics) {
    Json rows = Json::array();
    for (const ComparisonRow& row : metric.rows) rows.push_back(row_json(row, table.margin));
    json["metrics"].push_back({{"metric", metric.metric.path},
                               {"meaning", metric.metric.meaning},
                               {"better", metric.metric.lower_is_better ? Json("lower") : Json()},
                               {"rows", rows}});
  }
  json["notes"] = table.notes;
  return json.dump(2) + "\n";
}

}  // namespace longhaul
