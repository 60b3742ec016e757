// What a reader may conclude from runs, in sentences: which method is ahead at equal tokens, after the same
// simulated time, after the same bytes, to the target loss, in the time of the whole run and, last, of a
// synchronization; and where no difference is shown, why not. The same sentences stand in the report, at the
// end of a run, and in the output of `longhaul compare` and `longhaul claims`.
//
// The verdicts are those of compare_runs() with all questions as one family. Losses after the same time or
// bytes are compared where the first of the methods ends (equal_budget.h); one at equal time is shown only if
// it stays when the leader's clock is late by the network model's error against the other's.
#pragma once

#include <string>
#include <vector>

#include "analysis/comparison/comparison.h"
#include "analysis/runs/run_directory.h"

namespace longhaul {

struct Decision {
  // Why no difference is shown between the first and another.
  enum class Doubt { kNone, kOneSeed, kChance, kNetworkModel, kEqual };

  // What is said of one or more others, each against the first.
  struct Part {
    std::vector<std::string> others;
    std::string badge;  // "shown", "shown for this draw", "undecided" or "not compared"
    std::string words;
  };

  std::string metric;    // path; "loss@equal_time" and "loss@equal_bytes" are no numbers of a record
  std::string question;  // "at equal tokens"
  std::string first;     // the group with the lowest mean
  Doubt doubt = Doubt::kNone;
  bool is_of_one_draw = false;  // Comparison::Test::kOneDraw
  double lead = 0;      // of the first before the second: how many times as long, or the difference of a loss
  bool is_tie = false;  // of two without a difference between them: the part names both
  // The question, and who is ahead: "At equal tokens (2.05 million), b is ahead, 2.0100". Of a tie the
  // question alone.
  std::string opening;
  std::vector<Part> parts;

  std::string sentence() const;  // opening and parts
};

struct PointDecisions {
  std::string at;  // "" where nothing differs but what is compared
  std::vector<Decision> decisions;
};

struct Conclusions {
  std::string conditions;               // "With 16 replicas, seeds 1, 2, 3, ..."
  std::vector<std::string> everywhere;  // of all points together, where there are several
  std::vector<PointDecisions> points;
  std::string grounds;  // how the verdicts are made

  bool empty() const { return points.empty(); }
};

// Empty where no two groups stand at one point, or nothing is done. `request.metrics` is not used. Throws
// InputError as compare_runs(), DamagedFile for a table of a case.
Conclusions conclusions_of(const std::vector<RunDirectory>& runs, const ComparisonRequest& request = {});

// Lines of at most `width` columns: where there are several points what holds over all of them, else the
// sentences. "" without any.
std::string conclusions_text(const Conclusions& conclusions, std::size_t width);
std::string conclusions_markdown(const Conclusions& conclusions);
// {"conditions", "everywhere": [sentences], "points": [{"at", "decisions": [{"question", "first", "shown",
// "sentence", "opening", "parts": [{"others", "badge", "words"}]}]}], "grounds"}; null without any.
Json conclusions_json(const Conclusions& conclusions);

}  // namespace longhaul
