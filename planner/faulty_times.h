// How long plans take where nodes and sites fail: replays with the plan's faults, of several seeds.
//
// A draw replays as many steps as make kFaultsADraw of the rarest fault likely, or all. What it takes longer
// than the same steps without faults, as a share of these, holds for the whole training. Where partners are
// drawn too, those steps are replayed without faults for each draw: its own partners may be slow ones.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "planner/plan_request.h"
#include "planner/replay_task.h"
#include "planner/search.h"

namespace longhaul {

struct TimeRange {
  double mean_s = 0, low_s = 0, high_s = 0;
};

struct FaultyTime {
  std::string words;  // of the candidate
  TimeRange without;  // of the whole training without faults
  int draws = 0;
  double drawn_s = 0;     // of one draw, without faults
  double longer = 0;      // mean share by which the training takes longer
  double half_width = 0;  // of its 95 % interval by Student's t over draws

  TimeRange time() const;
  // Share of the time that faults do not cost: at most 1, also where draws of few faults say otherwise.
  double goodput() const { return 1 / (1 + std::max(0., longer)); }
};

// The choice, then the best replayed plan of each other method. Empty where the plan file has no faults.
// Methods that cannot meet them are left out, with a word in `notes`.
std::vector<FaultyTime> faulty_times(const PlanRequest& plan, const SearchResult& search,
                                     const PlanTools& tools, std::vector<std::string>& notes);

// What the choice of a search without faults is worth with them.
std::string faults_in_words(const std::vector<FaultyTime>& times);

}  // namespace longhaul
