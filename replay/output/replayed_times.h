// What a plan needs of a replay, kept in memory: the clocks of all workers after some steps, when exchanges
// began and ended, and at the end the totals and the loads of the links.
#pragma once

#include <utility>
#include <vector>

#include "replay/output/outputs.h"

namespace longhaul {

// Clocks of the workers in seconds after some steps, [number of the step][worker]: those of a plan are P, 2P,
// …, with P its period. And the latest one of all steps.
struct ReplayedClocks {
  std::vector<std::vector<double>> of_periods;
  double end_s = 0;
};

// From the first replica that came to it to the last one for which it was done.
struct ExchangeSpan {
  int step = 0, rule = 0;
  double first_ready_s = 0, last_done_s = 0;
};

struct ReplayedTimes {
  ReplayedClocks clocks;
  std::vector<ExchangeSpan> exchanges;  // by when their first rows came
  std::vector<ReplicaTotals> totals;    // by worker
  std::vector<LinkLoad> loads;          // by direction of the case's topology
};

class KeptTimes : public ReplayOutputs {
 public:
  // Clocks after these steps, ascending, and after the last one of `steps`.
  KeptTimes(std::vector<int> kept, int steps) : kept_(std::move(kept)), steps_(steps) {}

  int next_recorded(int step) const override;
  void add_exchange(int step, int rule, const ExchangeRow& row) override;
  void add_step(int step, const StepRow& row) override;
  Json finish(const ReplayEnd& end) override;

  ReplayedTimes take_times() { return std::move(times_); }  // after finish()

 private:
  const std::vector<int> kept_;
  const int steps_;
  ReplayedTimes times_;
};

}  // namespace longhaul
