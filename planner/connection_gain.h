// What several connections of two nodes carry together, in connections' worth of one: measured, or assumed.
//
// A matrix of sites says what one connection carries. That eight carry eight times as much is an upper bound;
// the one public measurement gained 3.1 with eight (docs/reference/topologies.md).
#pragma once

#include <string>
#include <vector>

#include "planner/evaluation.h"
#include "planner/plan_request.h"
#include "planner/replay_task.h"

namespace longhaul {

constexpr double kPublishedGain = 3.1;

// The training's time where several connections of a pair carry at most `gain` times one.
struct GainTime {
  double gain = 1;
  double total_s = 0;
};

// Whether the choice rests on what several connections carry together: it has more than one, between sites of
// a matrix.
bool rests_on_gain(const Evaluation& choice);

// The choice with the gains 1 and 3.1, where they are below the one that it assumes; replayed. None where it
// does not rest on a gain.
std::vector<GainTime> times_by_gain(const PlanRequest& plan, const Evaluation& choice,
                                    const PlanTools& tools);

// "8 connections of two nodes count as 8 times one: 60 d where they carry 3.1 times as much as one, 97 d
// where they carry no more." `times` is not empty.
std::string gain_in_short(const PlanRequest& plan, const Evaluation& choice,
                          const std::vector<GainTime>& times);

// The same for what the answer rests on, with where the number comes from. "" where the choice does not rest
// on a gain.
std::string gain_in_words(const PlanRequest& plan, const Evaluation& choice,
                          const std::vector<GainTime>& times);

}  // namespace longhaul
