// What a reader may conclude from runs: which method is ahead at equal tokens, after the same simulated time,
// after the same bytes, to the target loss, in the time of the whole run and, last, of a synchronization.
// Numbers and verdicts; decision_words.h has their sentences.
//
// The verdicts are those of compare_runs(): one family a question, of all its pairs at all points where the
// values differ. So a sentence names a difference that is chance with a probability of at most 5 %, at a
// point and over all points; several sentences together may do so more often. A loss that no network changes
// is asked once, not at each network. Losses after the same time or bytes are compared where the first of the
// methods ends (equal_budget.h); one at equal time is shown only if it stays when the leader's clock is late
// by the network model's error against the other's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/comparison/comparison.h"
#include "analysis/comparison/equal_budget.h"
#include "analysis/residual.h"
#include "analysis/runs/run_directory.h"

namespace longhaul {

struct Decision {
  // Why no difference is shown between the first and another. kOtherSeeds: of the seeds that both have, the
  // other is ahead.
  enum class Doubt { kNone, kOneSeed, kChance, kNetworkModel, kEqual, kOtherSeeds };

  // What compare says of a group against another with a higher mean.
  struct Against {
    std::size_t ahead = 0, other = 0;  // groups of `row`
    Comparison comparison;             // in its own order of the two
    double difference = 0;             // other − ahead
    Interval interval = {};            // of that
    Doubt doubt = Doubt::kNone;
    bool by_clocks = false;  // kNetworkModel: a late clock can turn a lead at equal time round
  };

  Metric metric;         // paths "loss@equal_time" and "loss@equal_bytes" are no numbers of a record
  std::string question;  // "at equal tokens"
  ComparisonRow row;
  std::size_t first = 0;         // the group of `row` that reached most and has the lowest mean
  std::vector<Against> others;   // against the first, in the order of their means
  std::vector<Against> further;  // of each two of the others, in the same order
  Doubt doubt = Doubt::kNone;    // of the first of `others` that is in doubt
  bool is_of_one_draw = false;   // Comparison::Test::kOneDraw
  double lead = 0;      // of the first before the second: how many times as long, or the difference of a loss
  bool is_tie = false;  // of two without a difference between them

  const Group& leader() const { return row.groups[first]; }
  bool is_time() const { return metric.unit == Metric::Unit::kSeconds; }
  bool is_at_equal_budget() const;  // those that were not evaluated within it have no value
};

struct PointDecisions {
  std::string at;  // "" where nothing differs but what is compared
  std::optional<Horizon> time, bytes;
  std::vector<double> tokens;  // the different counts of its cases
  std::optional<double> target;
  double residual = 0;  // of the simulated times, as network_residual()
  std::vector<Decision> decisions;
};

struct Conclusions {
  std::string conditions;  // "16 replicas, 3 seeds; network: ..."
  std::vector<PointDecisions> points;
  std::vector<std::size_t> tests;  // of each question that was asked: its family

  bool empty() const { return points.empty(); }
};

// The questions in their order: {metric, words}.
const std::vector<std::pair<std::string, std::string>>& decision_questions();

// Empty where no two groups stand at one point, or nothing is done. `request.metrics` is not used. Throws
// InputError as compare_runs(), DamagedFile for a table of a case.
Conclusions conclusions_of(const std::vector<RunDirectory>& runs, const ComparisonRequest& request = {});

// How many times as long the other takes as one that is ahead of it: over the seeds that both have, as a
// claim on it has it.
std::optional<OverSeeds> ratio_of(const Group& other, const Group& first);

}  // namespace longhaul
