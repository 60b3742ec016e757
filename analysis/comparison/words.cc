#include "analysis/comparison/words.h"

#include <cstdio>

#include "core/errors.h"

namespace longhaul {
namespace {

using Test = Comparison::Test;
using Outcome = Comparison::Outcome;

std::string between(const std::string& low, const std::string& high) {
  return "[" + low + ", " + high + "]";
}

std::string p_text(double p) {
  if (p < 1e-4) return "p < 0.0001";
  char text[32];
  std::snprintf(text, sizeof text, "p = %.2g", p);
  return text;
}

std::string seeds_text(const Comparison& comparison) {
  const std::string count = std::to_string(comparison.seeds);
  if (comparison.test == Test::kPaired) return count + " pairs";
  if (comparison.test == Test::kWelch) return "unpaired, " + count + " seeds";
  return "Fisher's exact test of how many reach it";
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
    case Test::kNone:
      break;
  }
  return "";
}

std::string row_text(const ComparisonRow& row) {
  const std::size_t more = row.same_at.size();
  if (more == 0) return row.at;
  return row.at + ", and " + std::to_string(more) + (more == 1 ? " more point" : " more points") +
         " with the same values";
}

std::string mean_text(const Metric& metric, const Group& group) {
  if (group.missed_target())
    return group.values.empty()
               ? "never reached"
               : "reached by " + std::to_string(group.values.size()) + " of " + std::to_string(group.cases);
  return group.values.empty() ? "–" : value_text(metric, group.mean);
}

std::string interval_text(const Metric& metric, const Group& group) {
  if (group.missed_target() || group.values.size() < 2) return "";
  return between(value_text(metric, group.interval.low), value_text(metric, group.interval.high));
}

std::string grounds_text(const Metric& metric, const Comparison& comparison) {
  std::vector<std::string> parts;
  if (comparison.has_difference) {
    std::string difference = "difference " + difference_text(metric, comparison.difference.mean);
    if (comparison.test != Test::kNone)
      difference += " " + between(difference_text(metric, comparison.interval.low),
                                  difference_text(metric, comparison.interval.high));
    parts.push_back(difference);
  }
  if (comparison.test != Test::kNone) {
    parts.push_back(seeds_text(comparison));
    parts.push_back(p_text(comparison.corrected.p));
  }
  if (!comparison.remark.empty()) parts.push_back(comparison.remark);
  return join(parts);
}

std::string metric_text(const Metric& metric) {
  return metric.path + (metric.meaning.empty() ? "" : ": " + metric.meaning) +
         (metric.lower_is_better ? "; lower is better" : "");
}

std::string method_note(const ComparisonTable& table) {
  if (table.tests == 0) return "Nothing was tested.";
  return "Intervals of means are at 95 %: Student's t, from " + std::to_string(kBootstrapFrom) +
         " seeds on BCa bootstrap. Differences are paired by seed where seeds are shared (paired t test), "
         "else "
         "Welch's t test. " +
         (table.tests == 1
              ? std::string("One comparison.")
              : "p is corrected by Holm over all " + std::to_string(table.tests) +
                    " comparisons of this output, and the interval of a difference is at the level at which "
                    "Holm tested it: the probability of one false difference or more is at most 5 %.");
}

}  // namespace longhaul
