#include "replay/pipeline/rebalance.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {

std::optional<StageMove> best_move(int stages, const std::vector<int>& stage_of,
                                   const std::vector<double>& busy_s) {
  std::vector<double> total_s(as_index(stages));
  std::vector<int> count(as_index(stages));
  for (std::size_t worker = 0; worker < stage_of.size(); ++worker) {
    total_s[as_index(stage_of[worker])] += busy_s[worker];
    ++count[as_index(stage_of[worker])];
  }
  const auto load_s = [&](int stage, int more) {
    return total_s[as_index(stage)] / (count[as_index(stage)] + more);
  };
  int to = 0, from = -1;
  for (int stage = 0; stage < stages; ++stage) {
    if (load_s(stage, 0) > load_s(to, 0)) to = stage;
    if (count[as_index(stage)] > 1 && (from < 0 || load_s(stage, 0) < load_s(from, 0))) from = stage;
  }
  if (from < 0 || from == to || std::max(load_s(from, -1), load_s(to, 1)) >= load_s(to, 0))
    return std::nullopt;
  int worker = -1, source = -1;
  for (int number = 0; number < static_cast<int>(stage_of.size()); ++number) {
    const int stage = stage_of[as_index(number)];
    const double one_s = busy_s[as_index(number)];
    if (stage == from && (worker < 0 || one_s <= busy_s[as_index(worker)])) worker = number;
    if (stage == to && (source < 0 || one_s < busy_s[as_index(source)])) source = number;
  }
  return StageMove{worker, from, to, source};
}

Rebalancing::Rebalancing(const PipelineSpec& spec, const ExchangeContext& context, const Trace& trace,
                         StageAssignment& assignment, Wiring& wiring, Arrived on_arrived)
    : spec_(spec),
      context_(context),
      trace_(trace),
      assignment_(assignment),
      wiring_(wiring),
      on_arrived_(std::move(on_arrived)),
      busy_s_(as_index(trace.context.replicas * spec.stages)),
      step_of_(busy_s_.size()) {}

void Rebalancing::end_passes(int step, const std::vector<double>& busy_s) {
  for (std::size_t worker = 0; worker < busy_s.size(); ++worker) busy_s_[worker] += busy_s[worker];
  if (step % spec_.rebalance_every != 0) return;
  if (!open_ && step < trace_.context.steps) decide(step);
  std::fill(busy_s_.begin(), busy_s_.end(), 0);
}

void Rebalancing::decide(int step) {
  std::vector<int> stage_of;
  for (int worker = 0; worker < static_cast<int>(busy_s_.size()); ++worker)
    stage_of.push_back(assignment_.stage_of(worker, step));
  const std::optional<StageMove> move = best_move(spec_.stages, stage_of, busy_s_);
  if (!move) return;
  double parameters = 0;
  for (const ColumnRange& range : trace_.plan.pipeline.columns_of(move->to))
    parameters += static_cast<double>(range.size());
  open_ = MoveTimes{*move, step, std::max<std::int64_t>(1, std::llround(spec_.state_bytes * parameters))};
  has_begun_ = false;
  assignment_.move(move->worker, move->to, step + 1);
  wiring_.leave(move->worker);
  begin_download();
}

void Rebalancing::enter(int worker, int step) {
  step_of_[as_index(worker)] = step;
  if (open_ && (worker == open_->move.worker || worker == open_->move.source)) begin_download();
}

// Once both have done with the step; the one that is later begins it.
void Rebalancing::begin_download() {
  const StageMove& move = open_->move;
  for (const int worker : {move.worker, move.source})
    if (step_of_[as_index(worker)] <= open_->step) return;
  if (has_begun_) return;
  has_begun_ = true;
  open_->begin_s = context_.clock.now_s();
  const int rule = static_cast<int>(trace_.plan.rules.size()) + 2;  // behind activations and gradients
  context_.network.send({move.source, move.worker, open_->bytes, {open_->step + 1, rule, move.source, 0}},
                        [this] {
                          MoveTimes times = *open_;
                          times.done_s = context_.clock.now_s();
                          open_.reset();
                          assignment_.arrive();
                          wiring_.join(times.move.worker, times.move.to);
                          on_arrived_(times);
                        });
}

}  // namespace longhaul
