#include "analysis/comparison/render.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analysis/comparison/comparison.h"
#include "analysis/comparison/metric.h"
#include "analysis/text.h"
#include "core/base/errors.h"

namespace longhaul {
namespace {

using Test = Comparison::Test;
using Outcome = Comparison::Outcome;

// What all forms call an outcome and a test; "" where nothing was tested.
std::string outcome_word(Outcome outcome) {
  static const char* const words[] = {"no difference shown", "better", "worse", "higher", "lower"};
  return words[static_cast<int>(outcome)];
}

std::string test_name(Test test) {
  static const char* const names[] = {"", "paired", "welch", "fisher", "fixed", "one draw"};
  return names[static_cast<int>(test)];
}

// Of what no seed changes.
std::string fixed_text(const Comparison& comparison, double residual) {
  if (residual == 0) return "the same in every seed: nothing is drawn";
  return comparison.outcome == Outcome::kNone
             ? "the same in every seed"
             : fmt::format("the same in every seed: only the network model's error of {} % counts",
                           std::lround(100 * residual));
}

std::string seeds_text(const Comparison& comparison) {
  if (comparison.test == Test::kPaired) return fmt::format("{} pairs", comparison.seeds);
  if (comparison.test == Test::kWelch) return fmt::format("unpaired, {} seeds", comparison.seeds);
  return "Fisher's exact test of how many reach it";
}

// "network.tcp.connections = 1, and 1 more point with the same values".
std::string row_text(const ComparisonRow& row) {
  if (row.same_at.empty()) return row.at;
  return fmt::format("{}, and {} with the same values", row.at, counted(row.same_at.size(), "more point"));
}

// "difference -0.0121 [-0.0200, -0.0042], 5 pairs, p = 0.0031"
std::string grounds_text(const Metric& metric, const ComparisonRow& row, const Comparison& comparison) {
  std::vector<std::string> parts;
  if (comparison.has_difference) {
    std::string difference = "difference " + difference_text(metric, comparison.difference.mean);
    if (comparison.has_p())
      difference += fmt::format(" [{}, {}]", difference_text(metric, comparison.interval.low),
                                difference_text(metric, comparison.interval.high));
    parts.push_back(difference);
  }
  if (comparison.has_p()) {
    parts.push_back(seeds_text(comparison));
    const double p = comparison.corrected.p;
    parts.push_back(p < 1e-4 ? "p < 0.0001" : fmt::format("p = {:.2g}", p));
    if (comparison.seeds_needed) parts.push_back(seeds_that_decide({comparison.seeds_needed}));
  } else if (comparison.test == Test::kFixed) {
    parts.push_back(fixed_text(
        comparison, std::max(row.groups[comparison.a].residual, row.groups[comparison.b].residual)));
  }
  if (!comparison.remark.empty()) parts.push_back(comparison.remark);
  return join(parts);
}

bool is_any(const ComparisonTable& table, Test test) {
  for (const MetricComparison& metric : table.metrics)
    for (const ComparisonRow& row : metric.rows)
      for (const Comparison& comparison : row.comparisons)
        if (comparison.test == test) return true;
  return false;
}

// How the intervals and p values are made.
std::string method_note(const ComparisonTable& table) {
  if (table.tests == 0)
    return is_any(table, Test::kFixed)
               ? "What is the same in every seed needs no test: nothing of it is drawn."
               : "Nothing was tested.";
  std::size_t largest = 0;
  for (const MetricComparison& metric : table.metrics) largest = std::max(largest, metric.tests);
  const std::string family =
      largest == 1
          ? "One comparison a metric."
          : fmt::format(
                "p is corrected by Holm over all comparisons of one metric, {} at most, and the interval of "
                "a "
                "difference is at the level at which Holm tested it: for each metric the probability of one "
                "false difference or more is at most 5 %.",
                largest);
  return fmt::format(
      "Intervals of means are at 95 %: Student's t. Differences are paired by seed where seeds are shared "
      "(paired t test), else Welch's t test. {}",
      family);
}

using Lines = std::vector<std::vector<std::string>>;

// With the point in a first column, where there are several.
template <class LinesOf>
std::string table_of(const MetricComparison& metric, std::vector<std::string> heading, std::string marks,
                     const LinesOf& lines_of) {
  const bool rows_differ = metric.rows.size() > 1;
  std::string text;
  for (const ComparisonRow& row : metric.rows)
    for (std::vector<std::string> cells : lines_of(row)) {
      if (rows_differ) cells.insert(cells.begin(), row_text(row));
      text += markdown_row(cells);
    }
  if (text.empty()) return "";
  if (rows_differ) heading.insert(heading.begin(), "at");
  return markdown_row(heading) + markdown_rule((rows_differ ? "l" : "") + marks) + text + "\n";
}

std::string means_table(const MetricComparison& metric, const std::string& by) {
  return table_of(metric, {by, "seeds", "mean", "95 % interval"}, "lrrl", [&](const ComparisonRow& row) {
    Lines lines;
    for (const Group& group : row.groups) {
      // Those that tried where some never reached the target, else those with a value.
      const std::size_t seeds = group.missed_target() ? group.cases : group.values.size();
      lines.push_back({group.name, std::to_string(seeds), mean_text(metric.metric, group),
                       interval_text(metric.metric, group)});
    }
    return lines;
  });
}

std::string verdicts_table(const MetricComparison& metric) {
  return table_of(metric, {"", "against", "verdict", "grounds"}, "llll", [&](const ComparisonRow& row) {
    Lines lines;
    for (const Comparison& comparison : row.comparisons) {
      const std::string verdict = outcome_word(comparison.outcome);
      lines.push_back({row.groups[comparison.a].name, row.groups[comparison.b].name,
                       comparison.outcome == Outcome::kNone ? verdict : "**" + verdict + "**",
                       grounds_text(metric.metric, row, comparison)});
    }
    return lines;
  });
}

// ------------------------------------------------------------------ JSON

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
          {"seeds_needed", comparison.seeds_needed ? Json(comparison.seeds_needed) : Json()},
          {"difference", comparison.has_difference ? Json(comparison.difference.mean) : Json()},
          {"p", comparison.has_p() ? Json(comparison.difference.p) : Json()},
          {"p_holm", comparison.has_p() ? Json(comparison.corrected.p) : Json()},
          {"interval", comparison.has_interval() ? interval_json(comparison.interval) : Json()},
          {"confidence", comparison.has_interval() ? Json(1 - comparison.corrected.level) : Json()},
          {"detectable", comparison.test == Test::kPaired ? Json(comparison.detectable) : Json()},
          {"equivalent", comparison.has_bounds() && margin > 0 ? Json(comparison.is_equivalent) : Json()},
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

std::string better_in_words(const Metric& metric) {
  return metric.better == Metric::Better::kLower ? "lower" : "higher";
}

}  // namespace

std::string mean_text(const Metric& metric, const Group& group) {
  if (group.missed_target())
    return group.values.empty() ? "never reached"
                                : fmt::format("reached by {} of {}", group.values.size(), group.cases);
  return group.values.empty() ? "–" : value_text(metric, group.mean);
}

std::string seeds_that_decide(const std::vector<std::size_t>& seeds) {
  if (seeds.empty()) return "";
  const auto [few, many] = std::minmax_element(seeds.begin(), seeds.end());
  if (*few > kMostSeeds) return fmt::format("more than {} seeds would decide", kMostSeeds);
  if (*many > kMostSeeds) return fmt::format("about {} to more than {} seeds would decide", *few, kMostSeeds);
  return *few == *many ? fmt::format("about {} seeds would decide", *few)
                       : fmt::format("about {} to {} seeds would decide", *few, *many);
}

std::string interval_text(const Metric& metric, const Group& group) {
  if (group.missed_target()) return "";
  if (group.is_fixed()) return "in every seed";
  if (group.values.size() < 2) return "";
  return fmt::format("[{}, {}]", value_text(metric, group.interval.low, group.mean),
                     value_text(metric, group.interval.high, group.mean));
}

std::string comparison_markdown(const ComparisonTable& table) {
  std::string text;
  for (const MetricComparison& metric : table.metrics) {
    const Metric& about = metric.metric;
    text += "### " + markdown_text(about.path + (about.meaning.empty() ? "" : ": " + about.meaning) +
                                   (about.better == Metric::Better::kNeither
                                        ? ""
                                        : "; " + better_in_words(about) + " is better"));
    text += "\n\n" + means_table(metric, table.by) + verdicts_table(metric);
  }
  text += method_note(table) + "\n";
  for (const std::string& note : table.notes) text += "\n*Note:* " + markdown_text(note) + "\n";
  return text;
}

Json comparison_json(const ComparisonTable& table) {
  Json json = {{"by", table.by},
               {"level", kLevel},
               {"tests", table.tests},
               {"margin", table.margin > 0 ? Json(table.margin) : Json()},
               {"metrics", Json::array()}};
  for (const MetricComparison& metric : table.metrics) {
    Json rows = Json::array();
    for (const ComparisonRow& row : metric.rows) rows.push_back(row_json(row, table.margin));
    json["metrics"].push_back(
        {{"metric", metric.metric.path},
         {"meaning", metric.metric.meaning},
         {"better",
          metric.metric.better == Metric::Better::kNeither ? Json() : Json(better_in_words(metric.metric))},
         {"tests", metric.tests},
         {"rows", rows}});
  }
  json["notes"] = table.notes;
  return json;
}

}  // namespace longhaul
