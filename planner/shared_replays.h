// Replays of candidates in which those that differ in their inner steps alone share one, where their
// exchanges take turns (exchange_turns.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/scenario/case.h"
#include "planner/replay_task.h"
#include "replay/output/replayed_times.h"

namespace longhaul {

struct WantedReplay {
  const Case* config = nullptr;
  int steps = 0;                // the first ones
  std::string fidelity;         // analytic, flow, linux
  std::string name;             // for people
  std::string exchanges = {};   // equal: the same replay but for the steps between exchanges; "": shares none
  bool is_needed = true;        // else its times are taken if another's replay has them, and are null if not
  std::string collective = {};  // in place of those of the plan; "": they stay
};

struct SharedReplay {
  std::shared_ptr<const ReplayedTimes> times;  // of a shared one without loads
  std::string error;                           // where `times` is null
  bool is_own = false;                         // no other's served
};

// By number of the wanted ones. `replays` is raised by those that were carried out.
std::vector<SharedReplay> replay_shared(const std::vector<WantedReplay>& wanted, const PlanTools& tools,
                                        const std::string& phase, int& replays);

}  // namespace longhaul
