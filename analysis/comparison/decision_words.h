// Decisions (decision.h) in sentences: as they stand in the report, at the end of a run, and in the output of
// `longhaul compare` and `longhaul claims`.
#pragma once

#include <string>
#include <vector>

#include "analysis/comparison/decision.h"
#include "analysis/runs/run_directory.h"
#include "core/base/json.h"

namespace longhaul {

struct DecisionWords {
  // What is said of one or more others, each against the first.
  struct Part {
    std::vector<std::string> others;
    std::string badge;  // "shown", "shown for this draw", "undecided" or "not compared"
    std::string words;
  };

  // The question, and who is ahead: "At equal tokens (2.05 million), b is ahead, 2.0100". Of a tie the
  // question alone: the part names both.
  std::string opening;
  std::vector<Part> parts;
  std::string sentence;  // opening and parts
};

DecisionWords in_words(const Decision& decision, const PointDecisions& point);

// Of all points together, a sentence a question; empty where there is one point.
std::vector<std::string> over_all_points(const Conclusions& conclusions);

// "8 replicas, 3 seeds; network: star of access links with ...; fidelity flow; swept: rate."
std::string conditions_in_words(const std::vector<RunDirectory>& runs);

// Where there are several points what holds over all of them, else the sentences. "" without any.
std::string conclusions_markdown(const Conclusions& conclusions);

// {"conditions", "everywhere": [sentences], "points": [{"at", "decisions": [{"question", "first", "shown",
// "sentence", "opening", "parts": [{"others", "badge", "words"}]}]}], "grounds"}; null without any.
Json conclusions_json(const Conclusions& conclusions);

}  // namespace longhaul
