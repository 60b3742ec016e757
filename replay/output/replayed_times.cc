#include "replay/output/replayed_times.h"

#include <algorithm>

#include "core/base/index.h"

namespace longhaul {

int KeptTimes::next_recorded(int step) const {
  const auto next = std::lower_bound(kept_.begin(), kept_.end(), step);
  return next == kept_.end() ? steps_ : std::min(*next, steps_);
}

// Rows of one exchange come close to each other.
void KeptTimes::add_exchange(int step, int rule, const ExchangeRow& row) {
  constexpr std::ptrdiff_t kOpen = 64;
  std::vector<ExchangeSpan>& spans = times_.exchanges;
  const auto end = std::min<std::ptrdiff_t>(kOpen, std::distance(spans.begin(), spans.end()));
  const auto found = std::find_if(spans.rbegin(), spans.rbegin() + end, [&](const ExchangeSpan& span) {
    return span.step == step && span.rule == rule;
  });
  if (found == spans.rbegin() + end) {
    spans.push_back({step, rule, row.ready_s, row.done_s});
    return;
  }
  found->first_ready_s = std::min(found->first_ready_s, row.ready_s);
  found->last_done_s = std::max(found->last_done_s, row.done_s);
}

void KeptTimes::add_step(int step, const StepRow& row) {
  ReplayedClocks& clocks = times_.clocks;
  clocks.end_s = std::max(clocks.end_s, row.done_s);
  const auto place = std::lower_bound(kept_.begin(), kept_.end(), step);
  if (place == kept_.end() || *place != step) return;
  const auto number = static_cast<std::size_t>(place - kept_.begin()), worker = as_index(row.replica);
  if (clocks.of_periods.size() <= number) clocks.of_periods.resize(number + 1);
  std::vector<double>& of_workers = clocks.of_periods[number];
  if (of_workers.size() <= worker) of_workers.resize(worker + 1);
  of_workers[worker] = row.done_s;
}

Json KeptTimes::finish(const ReplayEnd& end) {
  times_.totals = end.totals;
  times_.loads = end.loads;
  return {{"simulated_s", end.simulated_s()}};
}

}  // namespace longhaul
