// SWARM's moves of workers between stages (arXiv 2301.11913, section 3.3, "adaptive swarm rebalancing"):
// after every so many steps a worker of the least loaded stage may go over to the most loaded one.
//
// What the publication leaves open is decided so:
//   load       of a stage: mean seconds that its workers computed in the steps since the last comparison
//   whether    only if the slowest stage would be faster: with B(s) the seconds of a stage's n(s) workers
//              together, B / (n − 1) of the one and B / (n + 1) of the other are both below the largest
//              B / n. The least loaded stage has two workers at least. One worker at a time.
//   who        the worker of the least loaded stage that computed least, of equals the last one
//   from whom  it downloads: the worker of its new stage that computed least, of equals the first one
//   when       it is compared when the last pass of a step is over. The download begins when both workers are
//              done with that step, exchanges included. Until it is there the worker takes no pass. It is of
//              its new stage's exchange from the next step on, which so waits for it: weights that came later
//              would be out of date. While it is under way no other move is decided.
//   handing on a sender counts a worker that joins as having as much work as the one that it has given least,
//              and as fast as the fastest that it knows
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/index.h"
#include "core/plan/trace.h"
#include "core/scenario/case.h"
#include "replay/exchange/exchange_run.h"
#include "replay/pipeline/wiring.h"
#include "replay/work/stage_assignment.h"

namespace longhaul {

struct StageMove {
  int worker = 0, from = 0, to = 0;
  int source = 0;  // of what it downloads
};

// `stage_of` and `busy_s` by worker. None: no move makes the slowest stage faster.
std::optional<StageMove> best_move(int stages, const std::vector<int>& stage_of,
                                   const std::vector<double>& busy_s);

// A move that is over.
struct MoveTimes {
  StageMove move;
  int step = 0;  // behind which it was decided
  std::int64_t bytes = 0;
  double begin_s = 0, done_s = 0;  // of the download; of the clock
};

class Rebalancing {
 public:
  using Arrived = std::function<void(const MoveTimes& times)>;

  // All must outlive it.
  Rebalancing(const PipelineSpec& spec, const ExchangeContext& context, const Trace& trace,
              StageAssignment& assignment, Wiring& wiring, Arrived on_arrived);

  // All passes of a step are over, and none of the next one has begun. `busy_s`: of each worker in the step.
  void end_passes(int step, const std::vector<double>& busy_s);
  // The worker is done with all steps before this one.
  void enter(int worker, int step);

 private:
  void decide(int step);
  void begin_download();

  PipelineSpec spec_;
  const ExchangeContext& context_;
  const Trace& trace_;
  StageAssignment& assignment_;
  Wiring& wiring_;
  Arrived on_arrived_;
  std::vector<double> busy_s_;  // since the last comparison, by worker
  std::vector<int> step_of_;    // by worker
  std::optional<MoveTimes> open_;
  bool has_begun_ = false;  // the download of the open move
};

}  // namespace longhaul
