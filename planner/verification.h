// What the choice and its nearest rival take behind the FIFOs of a plan, which fidelity flow has no model of:
// replays of both in fidelity linux, segment by segment, with several seeds where these are cheap.
//
// The search has fair queues in their place. Where the rival turns out to be better it is taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "planner/plan_request.h"
#include "planner/planned_network.h"
#include "planner/replay_task.h"
#include "planner/search.h"

namespace longhaul {

// What a plan takes in fidelity linux, of replays of its first steps with several seeds.
struct VerifiedTime {
  std::string words;       // of the candidate
  double estimated_s = 0;  // by the search, with fair queues
  int seeds = 0;           // 0: not replayed, since that takes too many segments
  int replayed_steps = 0;
  std::int64_t segments = 0;                 // of one replay, estimated
  double mean_s = 0, low_s = 0, high_s = 0;  // of the whole training; over seeds
};

struct Verification {
  Json fifos;                       // as network.tcp has them
  double residual = 0;              // of the network model there; 1: not known
  std::vector<VerifiedTime> plans;  // the choice, and its nearest rival if there is one
  bool has_taken_rival = false;     // it was the choice of the search, and is slower there

  bool is_replayed() const { return plans.front().seeds > 0; }
};

// Of a plan whose queues the search cannot see; else none. Where the rival of the choice is better there, it
// becomes the choice of `search`. Throws RunError.
std::optional<Verification> verified(const PlanRequest& plan, const PlannedNetwork& network,
                                     SearchResult& search, const PlanTools& tools);

}  // namespace longhaul
