// As text for a terminal and as Markdown: rounded for people.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analysis/comparison/render.h"
#include "analysis/text.h"
#include "core/base/errors.h"

namespace longhaul {
namespace {

using Test = Comparison::Test;
using Outcome = Comparison::Outcome;

std::string p_text(double p) {
  return p < 1e-4 ? "p < 0.0001" : fmt::format("p = {:.2g}", p);
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
    parts.push_back(p_text(comparison.corrected.p));
  } else if (comparison.test == Test::kFixed) {
    parts.push_back(fixed_text(
        comparison, std::max(row.groups[comparison.a].residual, row.groups[comparison.b].residual)));
  }
  if (!comparison.remark.empty()) parts.push_back(comparison.remark);
  return join(parts);
}

// What the metric is and which way is better.
std::string metric_text(const Metric& metric) {
  return metric.path + (metric.meaning.empty() ? "" : ": " + metric.meaning) +
         (metric.lower_is_better ? "; lower is better" : "");
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
  const std::string family =
      table.tests == 1
          ? "One comparison."
          : fmt::format(
                "p is corrected by Holm over all {} comparisons of this output, and the interval of a "
                "difference is at the level at which Holm tested it: the probability of one false difference "
                "or more is at most 5 %.",
                table.tests);
  return fmt::format(
      "Intervals of means are at 95 %: Student's t, from {} seeds on BCa bootstrap. Differences are "
      "paired by seed where seeds are shared (paired t test), else Welch's t test. {}",
      kBootstrapFrom, family);
}

// Those that tried where some never reached the target, else those with a value.
std::size_t seeds_of(const Group& group) {
  return group.missed_target() ? group.cases : group.values.size();
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

std::string groups_text(const Metric& metric, const std::vector<Group>& groups) {
  std::size_t name = 0, seeds = 0, mean = 0;
  for (const Group& group : groups) {
    name = std::max(name, width_of(group.name));
    seeds = std::max(seeds, std::to_string(group.values.size()).size());
    mean = std::max(mean, width_of(mean_text(metric, group)));
  }
  std::string text;
  for (const Group& group : groups) {
    std::string line = fmt::format("  {}  {}  {}  {}", padded(group.name, name),
                                   padded(counted(seeds_of(group), "seed"), seeds + 6),
                                   padded(mean_text(metric, group), mean), interval_text(metric, group));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string comparisons_text(const Metric& metric, const ComparisonRow& row) {
  std::size_t width = 0;
  const auto pair = [&](const Comparison& comparison) {
    return row.groups[comparison.a].name + " against " + row.groups[comparison.b].name + ": ";
  };
  for (const Comparison& comparison : row.comparisons) width = std::max(width, width_of(pair(comparison)));
  std::string text;
  for (const Comparison& comparison : row.comparisons)
    text += fmt::format("  {}{} ({})\n", padded(pair(comparison), width), outcome_word(comparison.outcome),
                        grounds_text(metric, row, comparison));
  return text;
}

std::string line(const std::vector<std::string>& cells) {
  std::string text = "| ";
  for (const std::string& word : cells) text += markdown_cell(word);
  text.back() = '\n';
  return text;
}

std::string rule(const std::string& marks) {
  std::string text = "|";
  for (const char mark : marks) text += mark == 'r' ? "---:|" : "---|";
  return text + "\n";
}

std::string means_table(const MetricComparison& metric, const std::string& by, bool rows_differ) {
  std::vector<std::string> heading = {by, "seeds", "mean", "95 % interval"};
  if (rows_differ) heading.insert(heading.begin(), "at");
  std::string text = line(heading) + rule(rows_differ ? "llrrl" : "lrrl");
  for (const ComparisonRow& row : metric.rows)
    for (const Group& group : row.groups) {
      std::vector<std::string> cells = {group.name, std::to_string(seeds_of(group)),
                                        mean_text(metric.metric, group), interval_text(metric.metric, group)};
      if (rows_differ) cells.insert(cells.begin(), row_text(row));
      text += line(cells);
    }
  return text;
}

std::string verdicts_table(const MetricComparison& metric, bool rows_differ) {
  std::string text;
  for (const ComparisonRow& row : metric.rows)
    for (const Comparison& comparison : row.comparisons) {
      const std::string verdict = outcome_word(comparison.outcome);
      std::vector<std::string> cells = {
          row.groups[comparison.a].name, row.groups[comparison.b].name,
          comparison.outcome == Comparison::Outcome::kNone ? verdict : "**" + verdict + "**",
          grounds_text(metric.metric, row, comparison)};
      if (rows_differ) cells.insert(cells.begin(), row_text(row));
      text += line(cells);
    }
  if (text.empty()) return "";
  std::vector<std::string> heading = {"", "against", "verdict", "grounds"};
  if (rows_differ) heading.insert(heading.begin(), "at");
  return "\n" + line(heading) + rule(rows_differ ? "lllll" : "llll") + text;
}

}  // namespace

std::string outcome_word(Outcome outcome) {
  switch (outcome) {
    case Outcome::kBetter:
      return "better";
    case Outcome::kWorse:
      return "worse";
    case Outcome::kHigher:
      return "higher";
    case Outcome::kLower:
      return "lower";
    case Outcome::kNone:
      break;
  }
  return "no difference shown";
}

std::string test_name(Test test) {
  switch (test) {
    case Test::kPaired:
      return "paired";
    case Test::kWelch:
      return "welch";
    case Test::kFisher:
      return "fisher";
    case Test::kFixed:
      return "fixed";
    case Test::kOneDraw:
      return "one draw";
    case Test::kNone:
      break;
  }
  return "";
}

std::string mean_text(const Metric& metric, const Group& group) {
  if (group.missed_target())
    return group.values.empty() ? "never reached"
                                : fmt::format("reached by {} of {}", group.values.size(), group.cases);
  return group.values.empty() ? "–" : value_text(metric, group.mean);
}

std::string interval_text(const Metric& metric, const Group& group) {
  if (group.missed_target()) return "";
  if (group.is_fixed()) return "in every seed";
  if (group.values.size() < 2) return "";
  return fmt::format("[{}, {}]", value_text(metric, group.interval.low, group.mean),
                     value_text(metric, group.interval.high, group.mean));
}

std::string comparison_text(const ComparisonTable& table) {
  std::string text;
  for (const MetricComparison& metric : table.metrics) {
    text += metric_text(metric.metric) + "\n\n";
    for (const ComparisonRow& row : metric.rows) {
      if (!row.at.empty()) text += "  at " + row_text(row) + "\n";
      text += groups_text(metric.metric, row.groups) + comparisons_text(metric.metric, row) + "\n";
    }
  }
  text += method_note(table) + "\n";
  for (const std::string& note : table.notes) text += "note: " + note + "\n";
  return text;
}

std::string comparison_markdown(const ComparisonTable& table) {
  std::string text;
  for (const MetricComparison& metric : table.metrics) {
    const bool rows_differ = metric.rows.size() > 1;
    text += "### " + markdown_text(metric_text(metric.metric)) + "\n\n" +
            means_table(metric, table.by, rows_differ) + verdicts_table(metric, rows_differ) + "\n";
  }
  text += method_note(table) + "\n";
  for (const std::string& note : table.notes) text += "\n*Note:* " + markdown_text(note) + "\n";
  return text;
}

}  // namespace longhaul
