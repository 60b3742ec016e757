// What a candidate takes by replays of its pipelined collectives in few, large pieces, which cost a tenth: a
// double tree of 256 chunks has 512 messages a node and exchange, and most replays of a search are of plans
// that are not taken.
//
// The time of a pipeline of C pieces is nearly A + b / C: all of the vector once, and one piece more for each
// level. Two coarse replays give A and b. What they give is an estimate; the search takes it, less
// kCoarseError, as a bound below which the candidate will not be, and replays in full what may still be
// taken.
#pragma once

#include <optional>
#include <vector>

#include "core/plan/operations.h"
#include "core/scenario/case.h"
#include "net/collectives/collective.h"

namespace longhaul {

// Of what the network adds: the least of the three times was at most 2.8 % above that of the replay itself,
// of 23 double trees of scenarios/plans and of four measured sites. The extrapolated time alone was up to 28
// % above it, where ranks are in blocks and few large pieces meet on a site's uplink.
constexpr double kCoarseError = 0.05;

struct CoarsePlan {
  std::vector<Collective::CoarseForm> forms;  // two
  int pieces = 0;                             // of the collective itself, the fewest of its rules
};

// None where a rule's collective has no coarse forms, or so few pieces that little is saved.
std::optional<CoarsePlan> coarse_plan(const Case& config, const OperationPlan& plan);

struct CoarseTimes {
  double likely_s = 0;  // extrapolated to `pieces`
  double least_s = 0;   // the least of that and of both forms
};

// From the seconds of two forms.
CoarseTimes coarse_times(const CoarsePlan& coarse, double first_s, double second_s);

}  // namespace longhaul
