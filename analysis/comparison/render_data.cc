// JSON: every number in full.
#include "analysis/comparison/render.h"

namespace longhaul {
namespace {

using Test = Comparison::Test;

bool has_mean(const Group& group) {
  return !group.missed_target() && !group.values.empty();
}

Json interval_json(const Interval& interval) {
  return {interval.low, interval.high};
}

Json group_json(const Group& group) {
  Json seeds = Json::array(), values = Json::array();
  for (const SeedValue& seed_value : group.values) {
    seeds.push_back(seed_value.seed);
    values.push_back(seed_value.value);
  }
  Json json = {{"name", group.name},
               {"cases", group.cases},
               {"seeds", seeds},
               {"values", values},
               {"mean", has_mean(group) ? Json(group.mean) : Json()},
               {"interval", has_mean(group) && values.size() > 1 ? interval_json(group.interval) : Json()}};
  if (group.has_target) json["reached"] = group.values.size();
  return json;
}

Json comparison_json_of(const ComparisonRow& row, const Comparison& comparison, double margin) {
  const bool tested = comparison.test != Test::kNone;
  return {{"a", row.groups[comparison.a].name},
          {"b", row.groups[comparison.b].name},
          {"verdict", outcome_word(comparison.outcome)},
          {"test", tested ? Json(test_name(comparison.test)) : Json()},
          {"seeds", comparison.seeds},
          {"difference", comparison.has_difference ? Json(comparison.difference.mean) : Json()},
          {"p", comparison.has_p() ? Json(comparison.difference.p) : Json()},
          {"p_holm", comparison.has_p() ? Json(comparison.corrected.p) : Json()},
          {"interval", comparison.has_interval() ? interval_json(comparison.interval) : Json()},
          {"confidence", comparison.has_interval() ? Json(1 - comparison.corrected.level) : Json()},
          {"detectable", comparison.test == Test::kPaired ? Json(comparison.detectable) : Json()},
          {"equivalent", comparison.has_interval() && margin > 0 ? Json(comparison.is_equivalent) : Json()},
          {"remark", comparison.remark}};
}

Json row_json(const ComparisonRow& row, double margin) {
  Json json = {{"at", row.point}, {"groups", Json::array()}, {"comparisons", Json::array()}};
  if (!row.same_at.empty()) json["same_at"] = row.same_at;
  for (const Group& group : row.groups) json["groups"].push_back(group_json(group));
  for (const Comparison& comparison : row.comparisons)
    json["comparisons"].push_back(comparison_json_of(row, comparison, margin));
  return json;
}

}  // namespace

Json comparison_json(const ComparisonTable& table) {
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
  return json;
}

}  // namespace longhaul
