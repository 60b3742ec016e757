// The time of a whole training from a replay of its first outer steps.
//
// A plan of operations repeats: with P the period of its rules (H for most methods, 1 for ddp), a replay of K
// steps with S − K a multiple of P ends as the whole training of S steps ends. Times of a replay follow from
// earlier ones by maxima and sums. So where nothing is drawn and the clock of every replica moves by the same
// time in the last two periods, it does in all that follow: the whole takes the time of the K steps plus
// (S − K) / P of such periods, exactly what a replay of all steps says. The latest clock alone tells nothing:
// a fast replica may be ahead for a while, until it meets the slow ones.
//
// Where chance decides (partners, the network) nothing is exact. The mean over replicas of their clocks moves
// at the pace at which all move in the long run, and with less noise than the latest one. Periods depend on
// each other (who waited long comes late to its next partner), so their spread is taken from the means of
// blocks of periods (batch means; Law and Carson 1979, Operations Research 27(5)).
//
// Where nothing is drawn and the last periods differ, windows still settle. What moves one way is no chance,
// and a mean lags behind it: the range has the change from the first half of the periods to the second twice,
// which of an even change is all that was seen.
#pragma once

#include <string>
#include <vector>

#include "core/plan/operations.h"
#include "core/scenario/case.h"
#include "replay/output/replayed_times.h"

namespace longhaul {

// How a training of one case repeats.
struct Periods {
  int length = 1;  // P: the least common multiple of its rules, with those that go across sites now and then
  int settling =
      0;  // steps after which all rules that have a beginning or an end (a warm-up) are as they stay
  // What chance decides, for people: "partners", "the network's rates". Empty: nothing.
  std::vector<std::string> drawn = {};
  // Whether replicas wait for each other in all exchanges, so that in the long run all have the same pace.
  bool wait_for_all = true;
  int replays = 4;  // so many to replay after the first ones
  int screens = 2;  // the same for fidelity analytic, which has no windows to settle

  bool is_drawn() const { return !drawn.empty(); }
  // The first ones, at least one, in which connections begin: they stand for no other one.
  int unlike() const { return std::max(1, (settling + length - 1) / length); }
};

// Of the plan's own rules, among so many replicas.
Periods periods_of(const OperationPlan& plan, int replicas);

// The same with what a case draws besides: step times, messages, loss, what changes with time in the network.
Periods periods_of(const Case& config, const OperationPlan& plan);

// K: how many of `steps` to replay.
int steps_to_replay(const Periods& periods, int steps);
// The same with so many times as many periods, for what has not settled in them.
int steps_to_settle(const Periods& periods, int times, int steps);
int steps_to_screen(const Periods& periods, int steps);

struct TrainingTime {
  double total_s = 0;
  double replayed_s = 0;  // of the steps that were replayed
  // 95 % of trainings whose draws are others, and the mean's own error, are within `total_s` ± this; where
  // nothing is drawn, what periods may still change.
  double half_width_s = 0;
  int replayed_steps = 0, outer_steps = 0;
  // Nothing is drawn, and all steps were replayed or every replica's last two periods are equal.
  bool is_exact = false;
};

// From clocks that were kept after each period of `replayed` steps.
TrainingTime training_time(const ReplayedClocks& clocks, const Periods& periods, int replayed, int steps);

}  // namespace longhaul
