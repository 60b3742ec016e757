// Runs side by side: means over seeds with intervals, and for every pair whether a difference is shown.
//
// Cases with the same configuration but for the seed are one group. What is compared (`by`) makes the groups
// of a row; all else that differs between cases makes the rows. The differences of one metric, over all its
// rows, are one family: what is said of a metric names a difference that is chance with a probability of at
// most `kLevel` (Holm's correction). Rows with the same values are tested once. Several metrics are several
// families, so the verdict on one does not depend on which others are asked for.
//
// Where the replay of a case draws nothing from the seed (draws.h), its simulated times have no chance in
// them and no test: what can turn a difference round is the network model's error (analysis/residual.h)
// alone. Where it draws something and there is one seed, that holds for this draw, and is said so.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/runs/run_directory.h"
#include "analysis/statistics.h"
#include "core/base/options.h"
#include "core/scenario/metrics.h"

namespace longhaul {

constexpr double kLevel = 0.05;
constexpr double kConfidence = 1 - kLevel;
constexpr double kPower = 0.8;
constexpr std::size_t kMostSeeds = 1000;  // more are not counted

struct SeedValue {
  Json seed;
  double value = 0;
};

// The seeds of one configuration and one metric.
struct Group {
  std::string name;                // of what is compared: "noloco", "noloco (inner_steps = 50)", "0.7"
  std::vector<SeedValue> values;   // of the done cases that have the metric, by seed
  std::size_t cases = 0;           // done
  bool has_target = false;         // of time_to_target_s: a seed without value never reached it
  double residual = 0;             // of a simulated time: how wrong the network model may be, a fraction
  double model_error = 0;          // so much may the mean be off because of it
  std::string outside;             // what was not measured, where that is not known
  std::vector<std::string> draws;  // from the seed, of what moves this metric; empty: no seed changes it
  double rounding = 0;             // of a time: a difference below it is rounding (record_values.h)
  double mean = 0;                 // of values, if there are any
  Interval interval;               // of the mean, 95 %: Student's t

  // Some seeds never reached the target, so there is no mean.
  bool missed_target() const { return has_target && values.size() < cases; }
  // Nothing is drawn, and what the seeds have is the same to nine digits.
  bool is_fixed() const;
};

// The values of the seeds that both groups have, in the order of a's.
std::pair<std::vector<double>, std::vector<double>> shared_seeds(const Group& a, const Group& b);

struct Comparison {
  // kFixed: both are the same in every seed; their difference is exact but for the network model's error.
  // kOneDraw: one seed, the same of both, draws what moves them (step times, pairs), and no training: what is
  // shown is shown for this draw alone, which is the same for both.
  enum class Test { kNone, kPaired, kWelch, kFisher, kFixed, kOneDraw };
  enum class Outcome { kNone, kBetter, kWorse, kHigher, kLower };  // of a; kNone: no difference shown

  std::size_t a = 0, b = 0;  // groups of the row
  Test test = Test::kNone;
  std::size_t seeds = 0;        // kPaired: pairs; otherwise of the smaller group
  bool has_difference = false;  // not where seeds that miss the target are counted
  Difference difference;        // a − b
  Corrected corrected;
  // Of the difference, at the level at which Holm tested it; kFixed, kOneDraw: the difference.
  Interval interval;
  Outcome outcome = Outcome::kNone;
  double detectable = 0;  // kPaired: the smallest difference found with kPower, at the spread of these pairs
  // Where chance leaves it open: how many seeds find a difference as large as this one with kPower, at its
  // spread and level; kMostSeeds + 1: more than those. 0: nothing is open, or no number of seeds decides.
  // kFisher: the fewest that decide where the same shares reach the target.
  std::size_t seeds_needed = 0;
  bool is_equivalent = false;  // `interval` lies within ± the margin that was asked for
  std::string remark;          // why nothing could be tested, or shown

  bool has_interval() const { return test == Test::kPaired || test == Test::kWelch; }
  bool has_bounds() const { return has_interval() || test == Test::kFixed; }  // of the whole, not of a draw
  bool has_p() const { return has_interval() || test == Test::kFisher; }
};

struct ComparisonRow {
  std::string at;             // "network.tcp.connections = 8"; "" where nothing else differs
  Json point;                 // {key: value}
  std::vector<Json> same_at;  // further points with the very same values: one training under several networks
  std::vector<Group> groups;
  std::vector<Comparison> comparisons;  // each two groups once, in their order
};

struct MetricComparison {
  Metric metric;
  std::vector<ComparisonRow> rows;
  std::size_t tests = 0;  // the family
};

struct ComparisonTable {
  std::string by;
  std::vector<MetricComparison> metrics;
  std::size_t tests = 0;  // in all families
  double margin = 0;      // as requested
  std::vector<std::string> notes;
};

struct ComparisonRequest {
  std::string by = "method";            // "method", "run", or a key of the configuration
  std::vector<std::string> metrics;     // paths (chosen_metrics)
  std::vector<std::string> where;       // "key=value": only those cases
  std::vector<std::string> pairs = {};  // "a:b": only these comparisons, a against b; empty: each two groups
  // What difference would not matter, in units of the metric; 0: not said. A comparison whose interval lies
  // within ± margin is equivalent: that contains the two one-sided tests of Schuirmann (1987) at the same
  // level.
  double margin = 0;
};

// Throws InputError for a metric, a key, a value or a pair that no case has.
ComparisonTable compare_runs(const std::vector<RunDirectory>& runs, const ComparisonRequest& request);

// The same, without notes, of cases that stand in rows already (samples.h).
struct Samples;
ComparisonTable compare_samples(const Samples& samples, const std::vector<Metric>& metrics,
                                const ComparisonRequest& request);

}  // namespace longhaul
